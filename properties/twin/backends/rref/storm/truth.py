"""What the applications of a storm know: what they were given, hold, wait for and were promised. No table is believed.

An application hears what an implementation wants done (its effects), and remembers it. A call that has arrived is a promise:
it runs once, when the owners count all it was given, or it is refused. A value holds what code has put into it.
"""

from __future__ import annotations

from collections import Counter

from farref.impl.core import effects as eff
from farref.impl.core.ids import FetchId, ForkData, OwnedReference, Reference, UserReference, WaiterId, WorkerId
from farref.impl.core.messages import Call, CallFailed, RemoteCall
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.rref.impl_observer import name
from farref.properties.twin.backends.rref.storm.names import StormNames
from farref.properties.twin.backends.rref.storm.network import Content
from farref.properties.twin.backends.rref.truth import TruthOfForks

Given = tuple[WorkerId, tuple[Reference, ...]]
"""References, and the worker that has them."""


class StormTruth(TruthOfForks):
    """The user code of all workers: it does nothing by itself, and remembers everything."""

    names: StormNames

    def __init__(self, names: StormNames) -> None:
        self.names = names
        self.handles: Counter[tuple[WorkerId, Reference]] = Counter()
        self.promised: dict[str, Given] = {}  # by call or creation: what it was given, while it has not run
        self.values: dict[str, Given] = {}  # by RRef: what its value holds, where it is
        self.ready: dict[str, tuple[str, tuple[Reference, ...]]] = {}  # what each value was, wherever it is now
        self.failed: set[str] = set()  # the RRefs that have an error for a value
        self.running: dict[str, WorkerId] = {}  # the functions of creations, where they run
        self.arrived: set[str] = set()  # the RRefs whose creation has arrived
        self.calls: dict[str, tuple[WorkerId, WorkerId]] = {}  # those that neither ran nor failed: from, to
        self.fetches: dict[tuple[WorkerId, FetchId], tuple[str, str, bool]] = {}  # its name, its fork, given up
        self.waiters: dict[tuple[WorkerId, WaiterId], str] = {}
        self.spoiled: set[str] = set()  # the fetches that something happened to
        self.timed_out: set[str] = set()  # forks
        self.confirmed: set[str] = set()  # the creators' forks that were told so
        self.dropped: set[str] = set()
        self.dead: set[WorkerId] = set()
        self.noticed: set[tuple[WorkerId, WorkerId]] = set()  # who knows of whose death
        self.touched: set[str] = set()  # the RRefs of which something new is known
        self.started: list[tuple[str, tuple[Reference, ...]]] = []  # what was run since somebody looked
        self.counted: Counter[tuple[WorkerId, Reference]] = Counter()
        self.complaints: list[str] = []

    # What happens

    def promise(self, flight: InFlight) -> None:
        """Expect that a call which arrives now will run."""
        message = flight.message
        if not isinstance(message, Call | RemoteCall) or (flight.target, flight.source) in self.noticed:
            return
        if any((flight.target, data.owner) in self.noticed for data in message.forks):
            self.refuse(flight)  # nobody is handed a reference to what the dead owned (R34)
            return
        carrier = self.names.subject(flight.source, flight.target, message)
        self.promised[carrier] = (flight.target, tuple(_given(flight.target, data) for data in message.forks))
        if isinstance(message, RemoteCall):
            self.arrived.add(carrier)

    def put(self, rref: str, worker: WorkerId, held: tuple[Reference, ...]) -> None:
        """Know a value, which is told by the name of its RRef, and what it holds."""
        self.ready[rref], self.values[rref] = (rref, held), (worker, held)

    def refuse(self, flight: InFlight) -> None:
        """Know that a receiver cannot read a message: a creation has an error for a value, a fetch ends with one."""
        carrier = self.names.subject(flight.source, flight.target, flight.message)
        if isinstance(flight.message, RemoteCall):
            self.arrived.add(carrier)
            self.failed.add(carrier)
        self.spoiled.add(carrier)

    def spoil(self, carrier: str) -> None:
        """Know that something has happened to a message, so that what it was for may fail."""
        self.spoiled.add(carrier)

    def hears(self, worker: WorkerId, effect: eff.Effect) -> None:
        """Take in what an implementation wants done on a worker."""
        match effect:
            case eff.Send(target, CallFailed() as failed):
                self._break_promise(self.names.subject(worker, target, failed))
            case eff.RunCall(source, call, references):
                self._run(worker, self.names.calls[source, call.call], references)
                self._must_be_accepted(worker, call.forks)
                self._end_call(self.names.calls[source, call.call], "runs")
            case eff.RunCreation(creation=creation, references=references):
                rref = self.names.rref(creation.rref)
                self._run(worker, rref, references)
                self._must_be_accepted(worker, creation.forks)
                self.running[rref] = worker
            case eff.CompleteCall(references=references):
                self._hold(worker, references)
            case eff.FailCall(call):
                self._end_call(self.names.calls.get((worker, call)), "fails")
            case eff.CompleteFetch():
                self._end_fetch(worker, effect)
            case eff.WakeWaiter(waiter, outcome):
                rref = self.waiters.pop((worker, waiter), "")
                self._expect(bool(rref), f"waiter {waiter} is woken, and does not wait")
                self._expect(
                    not rref or self._is_right(rref, outcome), f"code is given another value than that of {rref}"
                )
            case eff.Confirmed(fork):
                self.confirmed.add(self.names.fork(fork))
            case eff.DropValue(found):
                rref = self.names.rref(found)
                is_lost = self.names.created[rref].creator in self.dead and rref not in self.arrived
                self._expect(is_lost or rref not in self.dropped, f"the value of {rref} is dropped again")
                self.dropped.add(rref)
                self.values.pop(rref, None)
                self.touched.add(rref)
            case _:
                pass

    def _run(self, worker: WorkerId, carrier: str, references: tuple[Reference, ...]) -> None:
        promised = self.promised.pop(carrier, None)
        fits, given = promised == (worker, references), self._names(references)
        self._expect(fits, f"{carrier} runs with {given}, and was not promised that, or has run already")
        self.started.append((carrier, references))
        self._hold(worker, references)

    def _must_be_accepted(self, worker: WorkerId, forks: tuple[ForkData, ...]) -> None:
        """Complain if user code starts before its arguments were accepted towards their parents, if these live (R18)."""
        for data in forks:
            owed = data.parent is not None and (worker, data.fork.created_on) not in self.noticed
            told = f"user code gets {self.names.fork(data.fork)} before its parent is told (R18)"
            self._expect(not owed or data.fork in self.names.accepted, told)

    def _break_promise(self, carrier: str) -> None:
        """Hear that a receiver did not take on what it was sent, or cannot run it any more."""
        self.promised.pop(carrier, None)
        if carrier in self.arrived and carrier not in self.running:
            self.failed.add(carrier)
        self.spoiled.add(carrier)

    def _end_call(self, call: str | None, how: str) -> None:
        if call is not None:  # a result that was refused has no call of ours to end
            self._expect(self.calls.pop(call, None) is not None, f"{call} {how}, and has ended already")

    def _end_fetch(self, worker: WorkerId, ended: eff.CompleteFetch) -> None:
        asked = self.fetches.pop((worker, ended.fetch), None)
        if asked is None:
            self.complaints.append(f"fetch {ended.fetch} ends, and nobody asked for it")
            return
        fetch, fork, abandoned = asked
        rref = self.names.made[fork].rref
        self.touched.add(rref)
        self._expect(abandoned == ended.abandoned, f"{fetch}: it is told wrongly whether it was given up")
        if not abandoned:
            self._hold(worker, ended.references)
        if ended.failed:
            self._expect(self._may_fail(fetch, rref), f"{fetch} fails, and nothing was wrong with it")
        else:
            self._expect(self._fits(rref, ended), f"{fetch} gets {ended.content} with {self._names(ended.references)}")

    def _fits(self, rref: str, ended: eff.CompleteFetch) -> bool:
        """Say whether a fetch brought the value, and what it holds."""
        if rref not in self.ready:
            return False
        token, held = self.ready[rref]
        return token == ended.content and [one.rref for one in held] == [one.rref for one in ended.references]

    def _may_fail(self, fetch: str, rref: str) -> bool:
        created = self.names.created[rref]
        if fetch in self.spoiled or rref in self.failed or self.dead & {created.owner, created.creator}:
            return True
        holder, held = created.owner, self.ready.get(rref, ("", ()))[1]
        owners = {one.owner for one in held if isinstance(one, UserReference)}
        return bool(owners & self.dead) or any(self.is_refused(holder, one) for one in held)

    def _is_right(self, rref: str, outcome: eff.Outcome) -> bool:
        if isinstance(outcome, eff.Failure):
            return rref in self.failed or self.names.created[rref].creator in self.dead
        content = outcome.content
        return rref in self.ready and isinstance(content, Content) and content.token == self.ready[rref][0]

    def is_refused(self, worker: WorkerId, reference: Reference) -> bool:
        """Say whether a handle can only be let go: its creation timed out (R27), or its owner is known to be dead (R34)."""
        if isinstance(reference, OwnedReference):
            return False
        return self.names.fork(reference.fork) in self.timed_out or (worker, reference.owner) in self.noticed

    def _hold(self, worker: WorkerId, references: tuple[Reference, ...]) -> None:
        for one in references:
            self.handles[worker, one] += 1
            self.touched.add(self.names.rref(one.rref))
            late = isinstance(one, UserReference) and (worker, one.owner) in self.noticed
            self._expect(not late, f"{name(worker)} is handed {self.names.handle(one)}, whose owner is dead")

    # Deaths

    def mourn(self, dead: WorkerId) -> None:
        """Forget what code on a worker knew that is gone."""
        self.dead.add(dead)
        self.handles = Counter({one: number for one, number in self.handles.items() if one[0] != dead})
        self.promised = {one: given for one, given in self.promised.items() if given[0] != dead}
        self.values = {one: value for one, value in self.values.items() if value[0] != dead}
        self.running = {one: worker for one, worker in self.running.items() if worker != dead}
        self.fetches = {one: asked for one, asked in self.fetches.items() if one[0] != dead}
        self.waiters = {one: rref for one, rref in self.waiters.items() if one[0] != dead}

    def notice(self, worker: WorkerId, dead: WorkerId) -> None:
        """Expect that no call on a worker is handed a reference to what the dead owned (R34)."""
        self.noticed.add((worker, dead))
        for carrier, (at, given) in list(self.promised.items()):
            if at == worker and any(isinstance(one, UserReference) and one.owner == dead for one in given):
                self._break_promise(carrier)

    # What is known

    def count(self) -> None:
        """Count who has a handle: code, calls that wait, and values. Until it is counted anew, nothing changes."""
        self.counted = Counter({place: number for place, number in self.handles.items() if number})
        for worker, given in (*self.promised.values(), *self.values.values()):
            self.counted.update((worker, one) for one in given)

    def holds_of(self, worker: WorkerId, reference: Reference) -> int:
        """Say how many handles there are of a reference, as they were last counted."""
        return self.counted[worker, reference]

    def wants(self, rref: str) -> int:
        """Count who waits for a value on its owner."""
        return sum(wanted == rref for wanted in self.waiters.values())

    def asked(self, fork: str) -> list[bool]:
        """List the fetches of a fork that have not ended: whether each was given up."""
        return [abandoned for _, of, abandoned in self.fetches.values() if of == fork] if self.fetches else []

    # What properties ask (`properties/rref/truth.py`)

    def computes(self, rref: str) -> bool:
        """Say whether the function runs that computes an RRef's value, or will."""
        return rref in self.running or (rref in self.promised and rref in self.arrived)

    def holds(self, rref: str) -> bool:
        """Say whether code on the owner holds an RRef."""
        created = self.names.created[rref]
        return self.holds_of(created.owner, OwnedReference(created.id)) > 0

    def waits(self, rref: str) -> bool:
        """Say whether code on the owner waits for an RRef's value."""
        return self.wants(rref) > 0

    def has(self, fork: str) -> bool:
        """Say whether somebody on the holder of a fork has its handle."""
        made = self.names.made[fork]
        return self.holds_of(made.holder, made.reference) > 0

    def asks(self, fork: str) -> bool:
        """Say whether code on the holder of a fork waits for the value."""
        return False in self.asked(fork)

    def gave_up(self, fork: str) -> bool:
        """Say whether code on the holder of a fork asked for the value and gave up, and the answer has not come yet."""
        return True in self.asked(fork)

    def _names(self, references: tuple[Reference, ...]) -> str:
        return " and ".join(map(self.names.handle, references)) or "nothing"

    def _expect(self, holds: bool, complaint: str) -> None:
        if not holds:
            self.complaints.append(complaint)


def _given(target: WorkerId, data: ForkData) -> Reference:
    return OwnedReference(data.rref) if data.owner == target else UserReference(data.owner, data.rref, data.fork)
