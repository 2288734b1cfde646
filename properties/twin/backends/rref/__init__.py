"""Implementations of the RRef protocol that can be driven beside the model. Start with `lockstep.py`."""
