"""The conformance kit: judges any backend, clause by clause. Begin with `backend.py`, then `check.py`."""
