"""The shell around one core: the only room with threads and locks. Start with `worker.py`."""
