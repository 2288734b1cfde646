"""The protocols as small pure state machines, and a checker beneath. Start with `rref/model.py`."""
