"""What checks are made of, how they are run, and the report. Start with `backend.py`."""
