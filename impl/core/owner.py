"""The owner's side: one row for each RRef that this worker owns (R8), and when it may go (R22).

A row answers one question: can anybody still name the value? Users do through the forks counted here, code on this worker
through local references, and a creator whose message has not arrived through the phase EXPECTED (R21). All else follows:
`_settle` asks the question after every step that takes a reason away, and nothing else drops a row.

A fork request or a fetch may arrive before the creation. It makes a row in the phase ABSENT, which is no entry: when its
last fork and fetch go, nothing is remembered.

Everything that changes an entry is in this file, and `TRANSITIONS` lists it.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from typing import Final

from farref.impl.core.channel import Channel
from farref.impl.core.counts import Counts
from farref.impl.core.effects import AnswerFetch, DropValue, Failure, Outcome, WakeWaiter
from farref.impl.core.entries import Entry, Phase
from farref.impl.core.here import Here
from farref.impl.core.ids import ForkData, ForkId, OwnedReference, RRefId, WaiterId, WorkerId
from farref.impl.core.messages import (
    ChildAccept,
    CreateFailed,
    FetchCall,
    ForkRequest,
    RemoteCall,
    UserAccept,
    UserDelete,
)
from farref.impl.core.slim import EMPTY_LIST
from farref.impl.core.transitions import SAME, transitions
from farref.impl.errors import PeerDied, ReferenceRefused, refusal

ABSENT, EXPECTED, CREATED, READY = Phase

# fmt: off
TRANSITIONS: Final = transitions(
    # handler             in phase                              leads to  and may ask for
    ("create_on_self",    (ABSENT,),                            CREATED,  ()),
    ("create_local",      (ABSENT,),                            READY,    ()),
    ("on_remote_call",    (ABSENT, EXPECTED),                   CREATED,  (UserAccept,)),
    ("on_create_failed",  (ABSENT, EXPECTED),                   READY,    (AnswerFetch, WakeWaiter)),
    ("finish_function",   (CREATED,),                           READY,    (AnswerFetch, WakeWaiter)),
    ("finish_function",   (CREATED,),                           ABSENT,   (WakeWaiter, DropValue)),
    ("share",             (EXPECTED, CREATED, READY),           SAME,     ()),
    ("withdraw",          (EXPECTED, CREATED, READY),           SAME,     ()),
    ("withdraw",          (READY,),                             ABSENT,   (DropValue,)),
    ("take_from_user",    (ABSENT,),                            EXPECTED, (ChildAccept,)),
    ("take_from_user",    (ABSENT,),                            READY,    (ChildAccept,)),
    ("take_from_user",    (EXPECTED, CREATED, READY),           SAME,     (ChildAccept,)),
    ("take_from_self",    (EXPECTED, CREATED, READY),           SAME,     ()),
    ("on_fork_request",   (ABSENT, EXPECTED, CREATED, READY),   SAME,     ()),
    ("on_fork_request",   (ABSENT,),                            READY,    ()),
    ("on_user_delete",    (ABSENT, EXPECTED, CREATED, READY),   SAME,     ()),
    ("on_user_delete",    (READY,),                             ABSENT,   (DropValue,)),
    ("on_fetch_call",     (ABSENT,),                            SAME,     (AnswerFetch, DropValue)),
    ("on_fetch_call",     (ABSENT,),                            READY,    (AnswerFetch,)),
    ("on_fetch_call",     (EXPECTED, CREATED),                  SAME,     ()),
    ("on_fetch_call",     (READY,),                             SAME,     (AnswerFetch,)),
    ("await_value",       (EXPECTED, CREATED),                  SAME,     ()),
    ("await_value",       (READY,),                             SAME,     (WakeWaiter,)),
    ("stop_waiting",      (ABSENT, EXPECTED, CREATED, READY),   SAME,     ()),
    ("hold",              (EXPECTED, CREATED, READY),           SAME,     ()),
    ("let_go",            (EXPECTED, CREATED, READY),           SAME,     ()),
    ("let_go",            (READY,),                             ABSENT,   (DropValue,)),
    ("on_peer_died",      (ABSENT,),                            SAME,     (AnswerFetch, DropValue)),
    ("on_peer_died",      (EXPECTED, CREATED, READY),           SAME,     ()),
    ("on_peer_died",      (ABSENT, EXPECTED),                   READY,    (AnswerFetch, WakeWaiter)),
    ("on_peer_died",      (EXPECTED,),                          ABSENT,   (AnswerFetch, WakeWaiter, DropValue)),
    ("release",           (ABSENT, EXPECTED, CREATED, READY),   SAME,     ()),
    ("release",           (READY,),                             ABSENT,   (DropValue,)),
)
# fmt: on
"""What can happen to an entry. With a dead creator nothing is waited for: then the phase is READY at once, with an error."""


class Owner:
    """All entries of one worker."""

    def __init__(self, here: Here, channel: Channel) -> None:
        self.entries: dict[RRefId, Entry] = {}
        self.counts = Counts(here)
        self.marked: set[RRefId] = set()
        """RRefs whose creator is excluded, and whose creation never came: kept until it is buried (R37)."""
        self._here, self._emit, self._channel = here, here.emit, channel

    # Creation

    def create_on_self(self) -> OwnedReference:
        """Make an entry whose function is about to run here, with a handle (R12)."""
        rref = self._here.new_rref()
        self.entries[rref] = Entry(Phase.CREATED, running=True, held=1)
        return OwnedReference(rref)

    def create_local(self, outcome: Outcome) -> OwnedReference:
        """Make an entry that has its value already (R13)."""
        rref = self._here.new_rref()
        self.entries[rref] = Entry(Phase.READY, outcome, held=1)
        return OwnedReference(rref)

    def on_remote_call(self, source: WorkerId, message: RemoteCall) -> None:
        """Make the entry, or take the expected one, count the creator's fork, and answer, all at once (R10, R11)."""
        rref, fork = message.rref, message.fork
        self.counts.check_room(source)
        entry = self._row(rref)
        entry.phase, entry.running = Phase.CREATED, True
        # A creator's fork mostly has the numbers of its RRef. To keep them once makes an entry a tenth smaller.
        same = ForkId(rref.created_on, rref.incarnation, rref.number)
        self.counts.count(entry.forks, same if same == fork else fork, source)
        self._here.send(source, UserAccept(rref, fork))

    def finish_function(self, rref: RRefId, outcome: Outcome) -> None:
        """Make the entry ready, answer all who wait for it, and drop it if that was the last reason (R23)."""
        entry = self.entries[rref]
        entry.running = False
        self._make_ready(rref, entry, outcome)

    # Sharing

    def share(self, rref: RRefId, fork: ForkId, holder: WorkerId) -> None:
        """Count a fork before it is sent (R14). Only code that holds the RRef can share it."""
        entry = self._held(rref)
        self.counts.check_share(holder)
        self.counts.count(entry.forks, fork, holder)

    def withdraw(self, rref: RRefId, fork: ForkId) -> None:
        """Stop counting a fork whose message never arrived (R28)."""
        self._discard(rref, fork)

    def take_from_user(self, source: WorkerId, data: ForkData) -> OwnedReference:
        """Take a local reference for a fork that a user sent here, expecting the creation if need be (R19, R21)."""
        entry = self._row(data.rref)
        if entry.phase is Phase.ABSENT:
            entry.phase = Phase.EXPECTED
        entry.held += 1
        self._check_creator(data.rref)
        self._channel.send(source, ChildAccept(data.rref, data.fork))
        return OwnedReference(data.rref)

    def take_from_self(self, data: ForkData) -> OwnedReference:
        """Put a local reference in the place of a fork that this owner sent to itself, in this order (R19)."""
        self.entries[data.rref].held += 1
        self._discard(data.rref, data.fork)
        return OwnedReference(data.rref)

    # What users ask

    def on_fork_request(self, source: WorkerId, message: ForkRequest) -> None:
        """Count a user's fork, whether or not its creation has arrived (R16)."""
        self.counts.check_room(source)
        self.counts.count(self._row(message.rref).forks, message.fork, source)
        self._check_creator(message.rref)

    def on_user_delete(self, source: WorkerId, message: UserDelete) -> None:
        """Stop counting a fork; ignore one that is not counted (R26) or belongs to another worker (R34)."""
        entry = self.entries.get(message.rref)
        if entry and entry.forks.get(message.fork) == source:
            self._discard(message.rref, message.fork)

    def on_create_failed(self, source: WorkerId, message: CreateFailed) -> None:
        """Keep an error in place of a creation that never came, and count the creator's fork (R29)."""
        self.counts.check_room(source)
        entry = self._row(message.rref)
        self.counts.count(entry.forks, message.fork, source)
        self._make_ready(message.rref, entry, Failure(refusal(message.reason)))

    def on_fetch_call(self, source: WorkerId, message: FetchCall, _: object = None) -> None:
        """Answer a fetch, or park it until there is a value (R20)."""
        rref, fork, fetch = message.rref, message.fork, message.fetch
        entry = self._row(rref)
        if entry.outcome is None:
            entry.fetches = [*entry.fetches, (source, fork, fetch)]
            self._here.loads[source].add(0)
            self._check_creator(rref)
        else:
            self._emit(AnswerFetch(source, rref, fork, fetch, entry.outcome))

    # What code on this worker does

    def await_value(self, rref: RRefId, waiter: WaiterId) -> None:
        """Let code here wait for a value; while it does, it is a local reference of its own (R21)."""
        entry = self._held(rref)
        if entry.outcome is None:
            entry.waiting = [*entry.waiting, waiter]
        else:
            self._emit(WakeWaiter(waiter, entry.outcome))

    def stop_waiting(self, rref: RRefId, waiter: WaiterId) -> None:
        """Let code here give up waiting."""
        entry = self.entries.get(rref)
        if entry and waiter in entry.waiting:
            entry.waiting = [other for other in entry.waiting if other != waiter]
            self._settle(rref, entry)

    def hold(self, rref: RRefId) -> None:
        """Take one more handle of an RRef that is held here (R12)."""
        self._held(rref).held += 1

    def let_go(self, rref: RRefId) -> None:
        """Give up one handle (R22)."""
        entry = self._held(rref)
        entry.held -= 1
        self._settle(rref, entry)

    def let_go_of_everything(self) -> None:
        """Give up every handle (R32)."""
        for rref, entry in list(self.entries.items()):
            for _ in range(entry.held):
                self.let_go(rref)

    # Death of a peer

    def on_peer_died(self, peer: WorkerId) -> None:
        """Forget a dead peer's fetches; put an error in place of creations it can no longer send (R34).

        The forks it held stay counted, under its name: whether they may be released is not this step's decision.
        """
        for rref, entry in list(self.entries.items()):
            kept = [parked for parked in entry.fetches if parked[0] != peer] or EMPTY_LIST
            self._here.loads[peer].asked -= len(entry.fetches) - len(kept)
            entry.fetches = kept
            self._settle(rref, entry)
            if rref.created_on == peer:
                self._check_creator(rref)

    def release(self, gone: Collection[WorkerId]) -> None:
        """Stop counting what the buried held, and drop what nobody else names (R41)."""
        self.marked = {rref for rref in self.marked if rref.created_on not in gone}
        for rref, entry in list(self.entries.items()):
            for fork in [fork for fork, holder in entry.forks.items() if holder in gone]:
                self.counts.discount(entry.forks, fork)
            self._settle(rref, entry)

    def is_kept_for(self, excluded: Container[WorkerId]) -> bool:
        """Say whether only excluded workers keep what is left here (R45)."""
        return all(
            not (entry.running or entry.held or entry.waiting or entry.fetches)
            and all(holder in excluded for _, holder in entry.forks.items())
            for entry in self.entries.values()
        )

    # Beneath

    def _check_creator(self, rref: RRefId) -> None:
        """Let nobody wait for a creation that cannot come any more: its creator is dead (R34). One that came in time stays."""
        reason = self._here.dead.get(rref.created_on)
        if reason is not None:
            entry = self.entries.get(rref)
            if entry and entry.phase in (Phase.ABSENT, Phase.EXPECTED):
                if rref.created_on not in self._here.buried:
                    self.marked.add(rref)
                self._make_ready(rref, entry, Failure(PeerDied(reason)))

    def _row(self, rref: RRefId) -> Entry:
        entry = self.entries.get(rref)
        if entry is None:
            entry = self.entries[rref] = Entry()
        return entry

    def _held(self, rref: RRefId) -> Entry:
        entry = self.entries.get(rref)
        if entry is None or not entry.held:
            raise ReferenceRefused(f"{rref} is not held on this worker any more")
        return entry

    def _discard(self, rref: RRefId, fork: ForkId) -> None:
        entry = self.entries.get(rref)
        if entry and self.counts.discount(entry.forks, fork):
            self._settle(rref, entry)

    def _make_ready(self, rref: RRefId, entry: Entry, outcome: Outcome) -> None:
        entry.phase, entry.outcome = Phase.READY, outcome
        fetches, entry.fetches = entry.fetches, EMPTY_LIST
        waiting, entry.waiting = entry.waiting, EMPTY_LIST
        for source, fork, fetch in fetches:
            self._here.loads[source].end(0)
            self._emit(AnswerFetch(source, rref, fork, fetch, outcome))
        for waiter in waiting:
            self._emit(WakeWaiter(waiter, outcome))
        self._settle(rref, entry)

    def _settle(self, rref: RRefId, entry: Entry) -> None:
        """Drop an entry that was created and that nobody can name (R22). An expected one stays (R21)."""
        if entry.phase is Phase.ABSENT:
            if not entry.forks and not entry.fetches:
                del self.entries[rref]
        elif entry.phase is not Phase.EXPECTED and not entry.is_named() and rref not in self.marked:
            del self.entries[rref]
            self._emit(DropValue(rref, entry.outcome))
