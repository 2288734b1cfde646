"""A core that writes down what it does, one line of JSON for each event, in the format of `spec/log.md`.

The log says what happened on one worker, in order. What a worker sent is not in it: it follows from what happened. A step that
is about several RRefs, as a call with several references, is an event for each of them.

Every event is written under the lock that every step is taken under, so the order of lines is the order of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

import msgspec

from farref.impl.core.autograd.graph import Within
from farref.impl.core.core import Core
from farref.impl.core.effects import DropValue, Effect, Lost, Outcome
from farref.impl.core.ids import (
    FetchId,
    ForkData,
    ForkId,
    Incarnation,
    OwnedReference,
    Reference,
    RRefId,
    UserReference,
    WorkerId,
)
from farref.impl.core.messages import (
    Ack,
    AnyMessage,
    Call,
    CallFailed,
    Carrier,
    Control,
    FetchCall,
    FetchReturn,
    Forks,
    ForwardCall,
    RemoteCall,
    Return,
    RRefBody,
    UserAccept,
    UserCall,
)

FORMAT: Final = "farref-log/1"

Event = Callable[[], None]
"""An event that is to be written."""


class Journal:
    """Where events are written. It is given what a core must not do itself: to write, to close, to look at the clock."""

    def __init__(
        self, write: Callable[[bytes], object], close: Callable[[], object], clock: Callable[[], float]
    ) -> None:
        self.close = close
        self.events = 0
        """The number of events so far."""
        self._write, self._clock = write, clock
        self._encode = msgspec.json.Encoder().encode
        self._worker: WorkerId | None = None

    def begin(self, worker: WorkerId, names: Mapping[WorkerId, str]) -> None:
        """Write whose journal this is."""
        self._worker = worker
        workers = [names[rank] for rank in sorted(names)]
        self._line({"format": FORMAT, "subject": "rref", "worker": worker, "workers": workers})

    def write(self, event: str, rref: RRefId | None = None, fork: ForkId | None = None, **more: Any) -> None:
        """Write an event."""
        self.events += 1
        line: dict[str, Any] = {"worker": self._worker, "number": self.events, "time": self._clock(), "event": event}
        ids = {"rref": rref, "fork": fork, **more}
        self._line(line | {name: _plain(value) for name, value in ids.items() if value is not None})

    def _line(self, content: dict[str, Any]) -> None:
        self._write(self._encode(content) + b"\n")


class LoggedCore(Core):
    """A core whose steps are written into a journal. It looks at a step from outside: what came in, and what came of it."""

    def __init__(self, me: WorkerId, names: Mapping[WorkerId, str], incarnation: Incarnation, journal: Journal) -> None:
        super().__init__(me, names, incarnation)
        self.journal = journal
        self._write = journal.write
        journal.begin(me, names)

    def end(self) -> None:
        """Write the last event: how much is left in the tables."""
        unanswered = sum(1 for _ in self.channel.unanswered())
        self._write("end", entries=len(self.owner.entries), users=len(self.user.records), unanswered=unanswered)
        self.journal.close()

    # What the application does

    def create_remote(
        self, owner: WorkerId, function: str = "", forks: Forks = (), body: bytes = b"", within: Within = None
    ) -> tuple[UserReference, list[Effect]]:
        """Begin `remote()` on another worker."""
        made = super().create_remote(owner, function, forks, body, within)
        self._write("create remote", made[0].rref, made[0].fork, to=owner)
        return made

    def create_on_self(self) -> OwnedReference:
        """Begin `remote()` on this worker."""
        reference = super().create_on_self()
        self._write("create on self", reference.rref)
        return reference

    def create_local(self, outcome: Outcome) -> OwnedReference:
        """Make an RRef of a value that is here."""
        reference = super().create_local(outcome)
        self._write("create local", reference.rref)
        return reference

    def finish_function(self, rref: RRefId, outcome: Outcome) -> list[Effect]:
        """Report that the function which computes a value has ended."""
        self._write("finish", rref)
        return self._dropping(super().finish_function(rref, outcome))

    def share(self, reference: Reference, target: WorkerId) -> ForkData:
        """Mint a fork."""
        data = super().share(reference, target)
        self._write("share", data.rref, data.fork, to=target, owner=data.owner, parent=data.parent)
        return data

    def withdraw(self, forks: Forks) -> list[Effect]:
        """Take back forks whose message could not be written."""
        for data in forks:
            self._write("withdraw", data.rref, data.fork)
        return self._dropping(super().withdraw(forks))

    def fetch(self, reference: UserReference, within: Within = None) -> tuple[FetchId, list[Effect]]:
        """Ask the owner for the value."""
        asked = super().fetch(reference, within)
        self._write("fetch", reference.rref, reference.fork, fetch=asked[0])
        return asked

    def let_go(self, reference: Reference) -> list[Effect]:
        """Drop one handle."""
        self._let_go_of(reference)
        return self._dropping(super().let_go(reference))

    def let_go_of_everything(self) -> list[Effect]:
        """Drop every handle there is."""
        for rref, entry in self.owner.entries.items():
            for _ in range(entry.held):
                self._let_go_of(OwnedReference(rref))
        for fork, record in self.user.records.items():
            for _ in range(record.handles):
                self._let_go_of(UserReference(record.owner, record.rref, fork))
        return self._dropping(super().let_go_of_everything())

    def shut_down(self) -> None:
        """Let the application begin nothing new."""
        self._write("shut down")
        super().shut_down()

    # What messages do

    def receive(self, source: WorkerId, message: AnyMessage, content: object = None) -> list[Effect]:
        """Take one message in. What it is about to do is known before; it is written when it is done."""
        if source in self.dead:
            return []
        is_refused = isinstance(message, ForwardCall) and self.engine.objection(message.context) is not None
        events = list(self._doing(source, _carried(message), is_refused))
        effects = super().receive(source, message, content)
        for event in events:
            event()
        return self._dropping(effects)

    def refuse(self, source: WorkerId, message: Carrier | FetchCall | ForwardCall, reason: str) -> list[Effect]:
        """Answer a carrier whose body could not be read."""
        carried = _carried(message)
        events = list(self._doing(source, carried, True)) if isinstance(carried, Carrier | FetchCall) else []
        effects = super().refuse(source, message, reason)
        for event in events:
            event()
        return self._dropping(effects)

    def carrier_failed(self, target: WorkerId, message: UserCall, reason: str) -> list[Effect]:
        """Hear for certain that a user call of ours was not processed and never will be."""
        carried = _carried(message)
        if isinstance(carried, RemoteCall | FetchCall):
            self._write("fail", carried.rref, carried.fork, message=type(carried).__name__, to=target)
        for data in carried.forks if isinstance(carried, Carrier) else ():
            self._write("withdraw", data.rref, data.fork)
        return self._dropping(super().carrier_failed(target, message, reason))

    def peer_died(self, peer: WorkerId, reason: str) -> list[Effect]:
        """Declare a peer dead."""
        if peer not in self.dead and peer != self.me:
            self._write("died", peer=peer)
        return self._dropping(super().peer_died(peer, reason))

    def taken(self) -> list[Effect]:
        """End a step. If it installed a view, say who is excluded: what follows is not judged, as after a death (R37)."""
        effects = super().taken()
        for effect in effects:
            if type(effect) is Lost:
                self._write("died", peer=effect.worker)
        return effects

    def _doing(self, source: WorkerId, message: AnyMessage, is_refused: bool) -> Iterator[Event]:
        """Say what a message is about to do, before it does."""
        receive = partial(self._write, "receive", source=source)
        match message:
            case FetchReturn(rref, fork, fetch):
                yield partial(receive, rref, fork, message="FetchReturn", fetch=fetch)
                yield from self._taking_on(source, message, is_refused)
            case Call() | RemoteCall() | Return():
                yield from self._taking_on(source, message, is_refused)
            case FetchCall(rref, fork, fetch):
                yield partial(receive, rref, fork, message="FetchCall", fetch=fetch)
            case UserAccept(rref, fork):
                yield partial(receive, rref, fork, message="UserAccept")
            case CallFailed(forks=forks):
                for data in forks:
                    yield partial(receive, data.rref, data.fork, message="CallFailed")
            case Ack(incarnation, number):
                waiting = self.channel.to(source).unanswered.get(number)
                body = waiting.body if waiting is not None and incarnation == self.incarnation else None
                if isinstance(body, RRefBody):
                    yield partial(receive, body.rref, body.fork, message=f"Ack({type(body).__name__})")
            case Control(body=body) if isinstance(body, RRefBody):
                is_news = self.channel.from_(source).would_take(message)
                yield partial(receive, body.rref, body.fork, message=type(body).__name__, effect=is_news)
            case _:
                pass

    def _taking_on(self, source: WorkerId, message: Carrier, is_refused: bool) -> Iterator[Event]:
        is_refused = is_refused or self.calls.objection(source, message) is not None
        carrier = "Call" if isinstance(message, Call | RemoteCall) else "Return"
        for data in message.forks:
            about = partial(self._write, source=source, owner=data.owner, parent=data.parent)
            if is_refused:
                yield partial(about, "refuse", data.rref, data.fork)
            else:
                yield partial(about, "receive", data.rref, data.fork, message=carrier)
        if isinstance(message, RemoteCall):
            yield partial(self._write, "receive", message.rref, message.fork, source=source, message="RemoteCall")
            if is_refused:
                yield partial(self._write, "finish", message.rref)

    # Writing

    def _let_go_of(self, reference: Reference) -> None:
        self._write("let go", reference.rref, getattr(reference, "fork", None))

    def _dropping(self, effects: list[Effect]) -> list[Effect]:
        for effect in effects:
            if isinstance(effect, DropValue):
                self._write("drop", effect.rref)
        return effects


def _carried(message: AnyMessage) -> AnyMessage:
    return message.message if isinstance(message, ForwardCall) else message


def _plain(value: Any) -> Any:
    """Write an id as who minted it, in which life, and its number."""
    if isinstance(value, RRefId | ForkId):
        return f"{value.created_on}.{value.incarnation}.{value.number}"
    return value
