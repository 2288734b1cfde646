"""A worker of two pages: the core on a page (`spec/building/`) on the least of `spec/wire.md`. It meets one of `farref.impl`.

It takes one frame at a time, runs functions where it stands, and loses nothing, so it never sends anything again.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from tests.spec.page_core import Fork, Id, Worker
from tests.spec.page_wire import Link, Reference, pack, unpack

CONTROL = {"ForkRequest": 1, "ChildAccept": 2, "UserDelete": 3, "CreateFailed": 4}
KINDS = {tag: kind for kind, tag in CONTROL.items()}
HERE, THERE = 1, 0

Function = Callable[..., Any]


class SmallWorker(Worker):
    """Rank 1 of two. A reference is named by its fork here, or by its RRefId if it is owned here."""

    def __init__(self, directory: Path, functions: dict[str, Function]) -> None:
        super().__init__(HERE, self._send)
        self.functions, self.values = functions, dict[Id, Any]()
        self.incarnation = time.time_ns()
        self.link = Link(directory, "small", self.incarnation)
        self.asked, self.reached = 0, 0
        self.answers: dict[int, Any] = {}
        self.fetching: dict[Id, list[int]] = {}

    def mint(self) -> Id:
        self.minted += 1
        return HERE, self.incarnation, self.minted

    # Sending

    def _send(self, _: int, kind: str, content: Any) -> None:
        match kind:
            case "Control":
                _, name, data = self.unanswered[content]
                control = [CONTROL[name], data.rref, data.fork]
                self.link.send([8, self.incarnation, content, min(self.unanswered), control])
            case "Ack":
                self.link.send([9, self.link.incarnation, content])
            case "UserAccept":
                self.link.send([2, *content])
            case "FetchCall":
                self.link.send([6, *content, self.asked])
            case "FetchReturn":
                rref, fork = content
                self.link.send([7, rref, fork, self.fetching[fork].pop(0), False, [], pack(self.values[rref])])
            case _:
                raise NotImplementedError(kind)

    def forks(self, *references: Id) -> list[list[Any]]:
        """Share references in a message that is sent right after this."""
        return [[one.owner, one.rref, one.fork, one.holder, one.parent] for one in map(self.shared, references)]

    def call(self, function: str, *references: Id) -> Any:
        """Call a function of the other worker with references, and wait for what it gives."""
        self.asked += 1
        body = pack([[Reference(index) for index in range(len(references))], {}])
        self.link.send([3, self.asked, function, self.forks(*references), body])
        return self._wait(self.asked)

    def to_here(self, reference: Id) -> Any:
        """Give the value of a reference."""
        if reference in self.values:
            return self.values[reference]
        self.asked += 1
        number = self.asked
        self.fetch(reference)
        return self._wait(number)

    def _wait(self, number: int) -> Any:
        while number not in self.answers:
            self.turn()
        return self.answers.pop(number)

    # Receiving

    def turn(self) -> None:
        """Take one frame in."""
        tag, *fields = self.link.read()
        self.FRAMES[tag](self, *fields)

    def _bound(self, forks: list[Any], body: bytes) -> Any:
        """Take the forks of a message on, and give its body with the references in it."""
        taken = [Fork(one[0], tuple(one[1]), tuple(one[2]), one[3], one[4] and tuple(one[4])) for one in forks]
        for data in taken:
            self.on_Call(THERE, data)
        named = [data.rref if data.owner == HERE else data.fork for data in taken]
        return _filled(unpack(body), named)

    def _remote_call(self, rref: list[int], fork: list[int], function: str, forks: list[Any], body: bytes) -> None:
        ids = tuple(rref), tuple(fork)
        arguments, _ = self._bound(forks, body)
        self.on_RemoteCall(THERE, ids)
        self.values[ids[0]] = self.functions[function](self, *arguments)
        self.finish(ids[0])

    def _user_accept(self, rref: list[int], fork: list[int]) -> None:
        self.on_UserAccept(THERE, (tuple(rref), tuple(fork)))

    def _call(self, call: int, function: str, forks: list[Any], body: bytes) -> None:
        if function not in self.functions:
            self.link.send([5, call, forks, f"there is no {function} here"])
            return
        arguments, _ = self._bound(forks, body)
        given = self.functions[function](self, *arguments)
        returned = [given] if isinstance(given, tuple) else []
        self.link.send([4, call, False, self.forks(*returned), pack(Reference(0) if returned else given)])

    def _return(self, call: int, failed: bool, forks: list[Any], body: bytes) -> None:
        self.answers[call] = unpack(body) if failed else self._bound(forks, body)

    def _fetch_call(self, rref: list[int], fork: list[int], fetch: int) -> None:
        self.fetching.setdefault(tuple(fork), []).append(fetch)
        self.on_FetchCall(THERE, (tuple(rref), tuple(fork)))

    def _fetch_return(
        self, rref: list[int], fork: list[int], fetch: int, failed: bool, forks: list[Any], body: bytes
    ) -> None:
        self.answers[fetch] = unpack(body) if failed else self._bound(forks, body)
        self.on_FetchReturn(THERE, (tuple(rref), tuple(fork)))

    def _control(self, _: int, number: int, __: int, control: list[Any]) -> None:
        data = Fork(HERE, tuple(control[1]), tuple(control[2]), THERE, None)
        self.on_control(THERE, number, KINDS[control[0]], data)

    def _ack(self, _: int, number: int) -> None:
        self.on_Ack(THERE, number)

    def _acks(self, answers: list[list[int]]) -> None:
        for answer in answers:
            self.on_Ack(THERE, answer[2])

    def _reached(self, step: int) -> None:
        self.reached = step

    FRAMES: ClassVar[dict[int, Callable[..., None]]] = {
        1: _remote_call, 2: _user_accept, 3: _call, 4: _return, 6: _fetch_call, 7: _fetch_return, 8: _control, 9: _ack,
        10: _reached, 13: _acks,
    }  # fmt: skip

    # Leaving

    def serve(self) -> bool:
        """Serve until the other worker leaves, leave too (R32), and say whether every table is empty."""
        for step in (1, 2):
            while self.reached < step:
                self.turn()
            self.link.send([10, step])
        for named in [*self.records, *self.entries]:
            while self.holds(named):
                self.let_go(named)
        while self.entries or self.records or self.unanswered:
            self.turn()
        self.link.send([10, 4])
        while self.reached < 4:
            self.turn()
        return not (self.entries or self.records or self.unanswered)


def _filled(value: Any, named: list[Id]) -> Any:
    """Put references into a body."""
    if isinstance(value, Reference):
        return named[value.index]
    return [_filled(one, named) for one in value] if isinstance(value, list) else value


# -- what it has for others to call --------------------------------------------------------------------------------------


def give(worker: SmallWorker) -> Id:
    """Make a value here, and give a reference to it."""
    rref = worker.create_here(ready=True)
    worker.values[rref] = "gift"
    return rref


def ask_back(worker: SmallWorker, reference: Id) -> Any:
    """Pass a reference on to the other worker, let go of it, and give what the other makes of it."""
    given = worker.call("__main__:peek", reference)
    worker.let_go(reference)
    return given


FUNCTIONS: dict[str, Function] = {
    "small:echo": lambda _, value: value,
    "small:double": lambda _, value: 2 * value,
    "small:keep": lambda *_: None,
    "small:read": lambda worker, reference: worker.to_here(reference),
    "small:give": give,
    "small:ask_back": ask_back,
}


if __name__ == "__main__":
    sys.exit(0 if SmallWorker(Path(sys.argv[1]), FUNCTIONS).serve() else 1)
