"""Logs of real runs: is what the workers wrote down a behaviour of the model? Start with `validate.py`."""
