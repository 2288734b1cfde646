"""Where workers find each other's names and addresses: a folder that they share, or a book that each has a copy of.

With a folder (`Folder`) everybody looks up what others left there. A book (`Book`) needs no file system that is shared: rank 0
listens at an address that all know, and hands out the book when all have come (`rendezvous.py`). Whoever joins later is made
known by rank 0, before any view has it.
"""

from __future__ import annotations

import hmac
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol

from farref.impl.core.ids import Incarnation, WorkerId
from farref.impl.transport.frames import Known

Transport = Literal["unix", "tcp"]
Endpoint = tuple[str, int]
Address = Path | Endpoint
"""Where somebody listens: a Unix socket, or a host and a port."""

BACKLOG: Final = 128
LIFE_MASK: Final = 2**32 - 1
STATE: Final = "authority"
WORLD_BYTES: Final = 16
KEY_BYTES: Final = 32


class Board(Protocol):
    """What a worker asks of either."""

    def name_of(self, rank: WorkerId) -> str:
        """Say what a worker is called."""

    def enter(self, rank: WorkerId, name: str, place: Endpoint | None) -> Known | None:
        """Note a worker that joins. Give what others are to be told of it, if they cannot look it up."""

    def find(self, rank: WorkerId, life: Incarnation) -> Address:
        """Say where one life of a worker listens, or raise `FileNotFoundError`."""

    def listing(self) -> dict[WorkerId, Endpoint]:
        """List where everybody listens, for whoever joins and cannot look it up."""

    def withdraw(self, rank: WorkerId, life: Incarnation) -> None:
        """Let nobody look for one life of a worker any more."""

    def keep(self, state: bytes | None) -> None:
        """Write down what the authority must not forget, or forget it."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that only its user can enter, on a machine or a file system that all workers share."""

    path: Path
    transport: Transport

    def name_of(self, rank: WorkerId) -> str:
        """Read a name: whoever has been reached has left it."""
        return (self.path / f"{rank}.name").read_text()

    def enter(self, rank: WorkerId, name: str, place: Endpoint | None = None) -> None:  # noqa: ARG002
        """Say under what name a rank can be called, before anybody can reach it."""
        (self.path / f"{rank}.name").write_text(name)

    def place_of(self, rank: WorkerId, life: Incarnation) -> Path:
        """Say which file one life of a worker has while it lasts. Socket names are short, so it is not named in full."""
        return self.path / f"{rank}.{life & LIFE_MASK:x}"

    def find(self, rank: WorkerId, life: Incarnation) -> Address:
        """Say where one life of a worker listens."""
        return self.at(self.place_of(rank, life))

    def at(self, place: Path) -> Address:
        """Say where whoever left a file listens: there, or where the file says."""
        if self.transport == "unix":
            return place
        address, port = place.read_text().split()
        return address, int(port)

    def listing(self) -> dict[WorkerId, Endpoint]:
        """List nobody: whoever joins looks here."""
        return {}

    def hosts(self) -> Iterator[Path]:
        """List the files that a life of rank 0 may have left."""
        for place in sorted(self.path.glob("0.*")):
            if all(letter in "0123456789abcdef" for letter in place.suffix[1:]):
                yield place

    def withdraw(self, rank: WorkerId, life: Incarnation) -> None:
        """Remove the file of one life of a worker."""
        self.place_of(rank, life).unlink(missing_ok=True)

    def keep(self, state: bytes | None) -> None:
        """Replace what the authority must not forget as a whole. A full disk costs only a restart."""
        if state is None:
            (self.path / STATE).unlink(missing_ok=True)
            return
        with suppress(OSError):
            draft = self.path / f".{STATE}"
            draft.write_bytes(state)
            os.replace(draft, self.path / STATE)


@dataclass(slots=True)
class Book:
    """Names and addresses in memory. Rank 0 listens at `endpoint`; `base` is what the secret of the world comes from."""

    endpoint: Endpoint
    base: bytes = field(repr=False)
    names: dict[WorkerId, str] = field(default_factory=dict)
    places: dict[WorkerId, Endpoint] = field(default_factory=dict)

    def secret(self) -> tuple[bytes, bytes]:
        """Derive the world's id and key. Whoever has another key is in another world, and is told so at once."""
        parts = (hmac.digest(self.base, f"{what} of the world".encode(), "sha256") for what in ("id", "key"))
        world, key = parts
        return world[:WORLD_BYTES], key

    def name_of(self, rank: WorkerId) -> str:
        """Look a name up."""
        return self.names[rank]

    def enter(self, rank: WorkerId, name: str, place: Endpoint | None) -> Known | None:
        """Note a worker. The others cannot look it up, so they are to be told."""
        self.names[rank] = name
        if place is None:
            return None
        self.places[rank] = place
        return Known(rank, name, *place)

    def find(self, rank: WorkerId, life: Incarnation) -> Endpoint:  # noqa: ARG002
        """Say where a worker listens. No id is given twice, so its life says nothing more."""
        try:
            return self.places[rank]
        except KeyError:
            raise FileNotFoundError(f"nobody knows where worker {rank} listens") from None

    def listing(self) -> dict[WorkerId, Endpoint]:
        """List where everybody listens."""
        return dict(self.places)

    def withdraw(self, rank: WorkerId, life: Incarnation) -> None:
        """Nothing to do: whoever knocks finds nobody."""

    def keep(self, state: bytes | None) -> None:
        """Nothing to do: an authority without a folder ends with its process, and nobody is excluded any more."""


def listen(address: Endpoint) -> socket.socket:
    """Listen at an address. It is one of this machine."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    return socket.create_server(address, family=family, backlog=BACKLOG)


def names_in(board: Board, ranks: Iterable[int]) -> dict[WorkerId, str]:
    """Look up some names."""
    return {WorkerId(rank): board.name_of(WorkerId(rank)) for rank in ranks}
