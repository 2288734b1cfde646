"""The core on a page (`spec/building/`), written down row by row and nothing else, on a network that does what it likes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

Id = tuple[int, ...]
"""Who minted it, and a number; in between an incarnation, where workers may have several."""


@dataclass
class Entry:
    phase: str = "ABSENT"
    forks: set[Id] = field(default_factory=set)
    fetches: list[tuple[int, tuple[Id, Id]]] = field(default_factory=list)
    local: int = 0


@dataclass
class Record:
    rref: Id
    owner: int
    confirmed: bool
    handles: int = 1
    children: set[Id] = field(default_factory=set)
    fetches: int = 0


@dataclass(frozen=True)
class Fork:
    """Fork data (R2)."""

    owner: int
    rref: Id
    fork: Id
    holder: int
    parent: Id | None


class Worker:
    """One worker. `send` takes the target, the kind of a message, and what it carries."""

    def __init__(self, rank: int, send: Callable[..., None]) -> None:
        self.rank, self.send, self.minted, self.numbered = rank, send, 0, 0
        self.entries: dict[Id, Entry] = {}
        self.records: dict[Id, Record] = {}
        self.unanswered: dict[int, tuple[int, str, Any]] = {}
        self.seen: set[tuple[int, int]] = set()
        self.dropped: set[Id] = set()

    def mint(self) -> Id:
        self.minted += 1
        return self.rank, self.minted

    # What the application does

    def create(self, owner: int) -> None:
        rref, fork = self.mint(), self.mint()
        self.records[fork] = Record(rref, owner, confirmed=False)
        self.send(owner, "RemoteCall", (rref, fork))

    def create_here(self, *, ready: bool) -> Id:
        rref = self.mint()
        self.entries[rref] = Entry("READY" if ready else "CREATED", local=1 if ready else 2)
        return rref

    def shared(self, named: Id, to: int = 0) -> Fork:
        child = self.mint()
        if named in self.records:
            record = self.records[named]
            record.children.add(child)
            return Fork(record.owner, record.rref, child, to, named)
        self.entries[named].forks.add(child)
        return Fork(self.rank, named, child, to, None)

    def holds(self, named: Id) -> bool:
        if named in self.records:
            return self.records[named].handles > 0
        return named in self.entries and self.entries[named].local > 0

    def let_go(self, named: Id) -> None:
        if named in self.records:
            self.records[named].handles -= 1
            self.release(named)
        else:
            self.entries[named].local -= 1
            self.settle(named)

    def fetch(self, fork: Id) -> None:
        record = self.records[fork]
        record.fetches += 1
        self.send(record.owner, "FetchCall", (record.rref, fork))

    def finish(self, rref: Id) -> None:
        self.entries[rref].phase = "READY"
        self.answer_fetches(rref)
        self.entries[rref].local -= 1
        self.settle(rref)

    # What arrives

    def on_RemoteCall(self, source: int, ids: tuple[Id, Id]) -> None:
        rref, fork = ids
        entry = self.entries.setdefault(rref, Entry())
        entry.phase = "CREATED"
        entry.local += 1
        entry.forks.add(fork)
        self.send(source, "UserAccept", ids)

    def on_UserAccept(self, _: int, ids: tuple[Id, Id]) -> None:
        self.confirm(ids[1])

    def on_Call(self, _: int, data: Fork) -> None:
        if data.owner == self.rank:
            entry = self.entries.setdefault(data.rref, Entry())
            entry.phase = "EXPECTED" if entry.phase == "ABSENT" else entry.phase
            entry.local += 1
            if data.parent is None:
                entry.forks.discard(data.fork)
            else:
                self.tell(data.fork[0], "ChildAccept", data)
            return
        self.records[data.fork] = Record(data.rref, data.owner, confirmed=data.parent is None)
        if data.parent is not None:
            self.tell(data.owner, "ForkRequest", data)

    def on_Return(self, source: int, data: Fork) -> None:
        self.on_Call(source, data)

    def on_ForkRequest(self, data: Fork) -> None:
        self.entries.setdefault(data.rref, Entry()).forks.add(data.fork)

    def on_ChildAccept(self, data: Fork) -> None:
        for fork, record in list(self.records.items()):
            if data.fork in record.children:
                record.children.discard(data.fork)
                self.release(fork)

    def on_UserDelete(self, data: Fork) -> None:
        self.entries[data.rref].forks.discard(data.fork)
        self.settle(data.rref)

    def on_FetchCall(self, source: int, ids: tuple[Id, Id]) -> None:
        entry = self.entries.setdefault(ids[0], Entry())
        if entry.phase == "READY":
            self.send(source, "FetchReturn", ids)
        else:
            entry.fetches.append((source, ids))

    def on_FetchReturn(self, _: int, ids: tuple[Id, Id]) -> None:
        self.records[ids[1]].fetches -= 1
        self.release(ids[1])

    def on_CallFailed(self, _: int, data: Fork) -> None:
        if data.parent is None:
            self.entries[data.rref].forks.discard(data.fork)
            self.settle(data.rref)
        else:
            self.on_ChildAccept(data)

    def on_RemoteFailed(self, owner: int, ids: tuple[Id, Id]) -> None:
        self.tell(owner, "CreateFailed", Fork(owner, ids[0], ids[1], self.rank, None))

    def on_CreateFailed(self, data: Fork) -> None:
        entry = self.entries.setdefault(data.rref, Entry())
        entry.phase = "READY"
        entry.forks.add(data.fork)
        self.answer_fetches(data.rref)

    def on_Ack(self, _: int, number: int) -> None:
        told = self.unanswered.pop(number, None)
        if told is not None and told[1] == "ForkRequest":
            self.tell(told[2].fork[0], "ChildAccept", told[2])
        if told is not None and told[1] in ("ForkRequest", "CreateFailed"):
            self.confirm(told[2].fork)

    # What is done in one place

    def answer_fetches(self, rref: Id) -> None:
        waiting, self.entries[rref].fetches = self.entries[rref].fetches, []
        for source, ids in waiting:
            self.send(source, "FetchReturn", ids)

    def confirm(self, fork: Id) -> None:
        if fork in self.records:
            self.records[fork].confirmed = True
            self.release(fork)

    def release(self, fork: Id) -> None:
        record = self.records[fork]
        if not record.handles and record.confirmed and not record.children and not record.fetches:
            del self.records[fork]
            self.tell(record.owner, "UserDelete", Fork(record.owner, record.rref, fork, self.rank, None))

    def settle(self, rref: Id) -> None:
        entry = self.entries[rref]
        if entry.phase in ("CREATED", "READY") and not entry.forks and not entry.local:
            del self.entries[rref]
            self.dropped.add(rref)

    def tell(self, to: int, kind: str, data: Fork) -> None:
        self.numbered += 1
        self.unanswered[self.numbered] = (to, kind, data)
        self.send(to, "Control", self.numbered)

    def on_control(self, source: int, number: int, kind: str, data: Fork) -> None:
        if (source, number) not in self.seen:
            self.seen.add((source, number))
            getattr(self, f"on_{kind}")(data)
        self.send(source, "Ack", number)


class Network:
    """Some workers, and what is under way between them: any of it may arrive next, and much may happen to it."""

    def __init__(self, workers: int, random: Random) -> None:
        self.random = random
        self.flying: list[tuple[int, int, str, Any]] = []
        self.workers = [Worker(rank, self._sender(rank)) for rank in range(workers)]

    def _sender(self, source: int) -> Callable[..., None]:
        def send(target: int, kind: str, content: Any) -> None:
            if kind == "Control":
                content = (content, *self.workers[source].unanswered[content][1:])
            self.flying.append((source, target, kind, content))

        return send

    def deliver(self, *, faults: bool) -> None:
        """Let some message arrive, fail, be lost or be copied, as its kind allows (R3)."""
        message = self.flying.pop(self.random.randrange(len(self.flying)))
        source, target, kind, content = message
        if faults and kind == "RemoteCall" and self.random.random() < 0.8:
            self.flying.append(message)  # creations are slow, so that others overtake them (R21)
            return
        luck = self.random.random() if faults else 1.0
        if kind in ("Control", "Ack"):
            if luck < 0.2:
                return
            if luck < 0.4:
                self.flying.append(message)
        elif kind in ("RemoteCall", "Call", "Return") and luck < 0.15:
            failed = "RemoteFailed" if kind == "RemoteCall" else "CallFailed"
            self.flying.append((target, source, failed, content))
            return
        if kind == "Control":
            self.workers[target].on_control(source, *content)
        else:
            getattr(self.workers[target], f"on_{kind}")(source, content)

    def retry(self) -> None:
        """Send every control message again that has no answer (R6)."""
        for worker in self.workers:
            for number, (to, _, _) in worker.unanswered.items():
                worker.send(to, "Control", number)
