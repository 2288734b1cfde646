"""Model and implementation side by side: campaigns, the Hypothesis machine, shrinking. Start with `twin.py`."""
