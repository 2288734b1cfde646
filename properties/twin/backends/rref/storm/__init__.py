"""RRefs in a storm: programs that no model takes beside, judged by properties and by what is left. Start with `run.py`."""
