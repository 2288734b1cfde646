"""A worker that comes to an address by itself and serves until all leave: `visitor.py NAME RANK SIZE HOST:PORT`.

The rest is in its environment: `FARREF_KEY`, `VISITOR_CERTIFICATES`, `VISITOR_SILENCE`, `VISITOR_TIMEOUT`. What goes wrong is
said in one line.
"""

from __future__ import annotations

import os
import sys

from farref.impl import RpcError, Settings, Tls, init_rpc, shutdown

ALLOWED = ("tests.impl.far.references", "tests.impl.far.cuts")


def settings() -> Settings:
    """Choose as the environment says."""
    certificates = os.environ.get("VISITOR_CERTIFICATES")
    tls = Tls(*certificates.split()) if certificates else None
    return Settings(allowed_modules=ALLOWED, tls=tls, silence_seconds=float(os.environ.get("VISITOR_SILENCE", "30")))


def main() -> None:
    """Come, and serve."""
    name, rank, size, place = sys.argv[1:]
    try:
        init_rpc(
            name,
            rank=int(rank),
            world_size=int(size),
            init_method=f"tcp://{place}",
            settings=settings(),
            timeout=float(os.environ.get("VISITOR_TIMEOUT", "30")),
        )
    except RpcError as error:
        sys.exit(f"{type(error).__name__}: {error}")
    shutdown(timeout=0)


if __name__ == "__main__":
    main()
