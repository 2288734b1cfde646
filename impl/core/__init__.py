"""One worker of both protocols without clock, sockets or threads: messages in, effects out. Start with `core.py`."""
