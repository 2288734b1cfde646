"""Mistakes that show in a storm only: with several forks in a message, values that hold references, deaths and lives.

The schedules of the model have one fork in each message, plain values, nobody who dies, and one life of each worker. So
lockstep cannot find these.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from farref.impl.core.calls import Calls
from farref.impl.core.channel import Channel, Incoming
from farref.impl.core.core import Core
from farref.impl.core.messages import Ack, Call, Control, Return
from farref.impl.core.owner import Owner
from farref.impl.core.parking import Parking
from farref.impl.core.user import Record, User
from farref.properties.zoo.creature import REVIEW, STORM
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("rref", STORM)
MANY: Final = 5
"""As many forks of one RRef as the schedules of the model have at most."""

# -- several forks in one message --------------------------------------------------------------------------------------


@MUTANTS.enter("R16", Parking, "start", origin=REVIEW)
def a_call_waits_for_one_of_its_forks(original: Handler) -> Handler:
    """A call with several unconfirmed forks is started when one of them is confirmed."""

    def start(self: Parking, run: Any) -> None:
        original(self, run)
        for parked in self.all():
            while len(parked.waiting_for) > 1:
                del self.waited_for[parked.waiting_for.pop()]

    return start


@MUTANTS.enter("R28", Calls, "withdraw", origin=REVIEW)
def one_fork_of_a_failed_message_is_withdrawn(original: Handler) -> Handler:
    """Of a message that failed, the first fork is taken back."""
    return lambda self, forks: original(self, forks[:1])


@MUTANTS.enter("R28", Calls, "objection", origin=REVIEW)
def the_first_fork_is_judged(original: Handler) -> Handler:
    """A receiver looks at the first fork of a message before it takes on all of them."""
    return lambda self, source, message: original(
        self, source, msgspec.structs.replace(message, forks=message.forks[:1])
    )


@MUTANTS.enter("R2", Calls, "arrive", origin=REVIEW)
def an_rref_twice_in_a_message_is_taken_on_once(original: Handler) -> Handler:
    """A receiver takes on one fork of each RRef that a message carries."""

    def arrive(self: Calls, source: Any, message: Any, content: object) -> None:
        one_of_each = tuple({data.rref: data for data in message.forks}.values())
        original(self, source, msgspec.structs.replace(message, forks=one_of_each), content)

    return arrive


@MUTANTS.enter("R29", Calls, "arrive", origin=REVIEW)
def the_arguments_of_a_creation_are_not_waited_for(original: Handler) -> Handler:
    """The function of a creation is started before the owners count what it was given."""

    def arrive(self: Calls, source: Any, message: Any, content: object) -> None:
        start = self._parking.start
        if not isinstance(message, Call | Return):
            self._parking.start = self._emit  # type: ignore[assignment, method-assign]
        original(self, source, message, content)
        self._parking.start = start  # type: ignore[method-assign]

    return arrive


@MUTANTS.enter("R16", Owner, "on_fork_request", origin=REVIEW)
def the_sixth_fork_is_not_counted(original: Handler) -> Handler:
    """An owner that counts five forks of an RRef answers for another one without counting it."""

    def on_fork_request(self: Owner, source: Any, message: Any) -> None:
        if message.rref not in self.entries or len(self.entries[message.rref].forks) < MANY:
            original(self, source, message)

    return on_fork_request


# -- values that hold references ---------------------------------------------------------------------------------------


@MUTANTS.enter("R20", User, "end_fetch", origin=REVIEW)
def an_answer_ends_all_fetches(original: Handler) -> Handler:
    """References that come with a value end every fetch of its fork."""

    def end_fetch(self: User, fork: Any, fetch: Any, failed: bool, references: Any, content: object) -> None:
        original(self, fork, fetch, failed, references, content)
        if references and fork in self.records:
            self.records[fork].fetches = {}

    return end_fetch


@MUTANTS.enter("R14", Core, "answer_fetch", origin=REVIEW)
def what_a_value_holds_is_counted_once(original: Handler) -> Handler:
    """An owner that sends a value stops counting the forks of its own RRefs among what it holds."""

    def answer_fetch(self: Core, answer: Any, failed: bool, forks: Any = (), *rest: Any, **more: Any) -> Any:
        for data in forks:
            if data.parent is None:
                self.owner.entries[data.rref].forks.pop(data.fork)
        return original(self, answer, failed, forks, *rest, **more)

    return answer_fetch


# -- deaths ------------------------------------------------------------------------------------------------------------


@MUTANTS.enter("R34", Core, "receive", origin=REVIEW)
def the_dead_are_heard(_: Handler) -> Handler:
    """What arrives from a worker that was declared dead takes effect."""

    def receive(self: Core, source: Any, message: Any, content: object = None) -> Any:
        self.handlers[type(message)](source, message, content)
        return self.taken()

    return receive


@MUTANTS.enter("R34", Calls, "give_up", origin=REVIEW)
def a_call_waits_for_the_dead(_: Handler) -> Handler:
    """A call whose argument nobody can confirm any more stays parked."""
    return lambda self, fork, error: None


@MUTANTS.enter("R34", Parking, "give_up", origin=REVIEW)
def a_call_is_handed_what_the_dead_owned(_: Handler) -> Handler:
    """A call that waits is given up only for a fork that it waits for, and not for one that was confirmed."""

    def give_up(self: Parking, fork: Any) -> Any:
        parked = self.waited_for.get(fork)
        for waited in parked.waiting_for if parked is not None else ():
            del self.waited_for[waited]
        return None if parked is None else parked.run

    return give_up


@MUTANTS.enter("R34", Owner, "_check_creator", origin=REVIEW)
def a_dead_creator_is_waited_for(_: Handler) -> Handler:
    """Who waits for a creation that cannot come any more waits for ever."""
    return lambda self, rref: None


@MUTANTS.enter("R34", Record, "may_go", origin=REVIEW)
def an_orphan_waits_for_its_children(_: Handler) -> Handler:
    """A record whose owner is dead stays as long as a child has not accepted."""
    return lambda self: (self.confirmed or self.orphaned) and not (self.handles or self.children or self.fetches)


@MUTANTS.enter("R34", Owner, "on_peer_died", origin=REVIEW)
def the_forks_of_the_dead_are_released(original: Handler) -> Handler:
    """An owner releases what a dead worker held, though its children may not be counted yet."""

    def on_peer_died(self: Owner, peer: Any) -> None:
        for rref, entry in list(self.entries.items()):
            for fork in [fork for fork, holder in entry.forks.items() if holder == peer]:
                self._discard(rref, fork)
        original(self, peer)

    return on_peer_died


# -- lives -------------------------------------------------------------------------------------------------------------


@MUTANTS.enter("R7", Incoming, "is_refused", origin=REVIEW)
def an_earlier_life_is_heard(_: Handler) -> Handler:
    """A control message of an earlier life of its sender takes effect."""
    return lambda self, control: False


@MUTANTS.enter("R5", Channel, "settle", origin=REVIEW)
def an_answer_to_an_earlier_life_is_taken(original: Handler) -> Handler:
    """An answer is taken for one of this life, whatever life it says."""
    return lambda self, peer, ack: original(self, peer, Ack(self._here.incarnation, ack.number))


@MUTANTS.enter("R7", Incoming, "take", origin=REVIEW)
def a_new_life_is_not_noticed(_: Handler) -> Handler:
    """Numbers of a sender's new life are taken for copies of those of its old one."""

    def take(self: Incoming, control: Control) -> bool:
        if control.lowest > self.mark:
            self._raise_mark(control.lowest)
        is_new = control.number >= self.mark and control.number not in self.processed
        self.processed.add(control.number)
        return is_new

    return take
