"""Streams between workers: who may connect, how bytes are sealed, and messages as frames. Start with `mesh.py`."""
