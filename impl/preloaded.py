"""What the server imports whose forks the workers are (`starting.py`): all that a worker needs. Nobody else imports this."""

from __future__ import annotations

import atexit

from farref.impl import cluster
from farref.impl.starting import remove_server

__all__ = ["cluster"]

atexit.register(remove_server)  # workers end without coming here
