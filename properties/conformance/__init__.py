"""The conformance kit: judges any backend, clause by clause, and keeps what it found in one. Begin with `backend.py`."""
