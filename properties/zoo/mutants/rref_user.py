"""Mistakes that a user can make, and mistakes with messages."""

from __future__ import annotations

from typing import Any, Final

from farref.impl.core.calls import Calls
from farref.impl.core.channel import Channel, Incoming, Outgoing
from farref.impl.core.core import Core
from farref.impl.core.messages import Ack, CallFailed, ChildAccept, Control, CreateFailed, ForkRequest
from farref.impl.core.parking import Parking
from farref.impl.core.user import Record, User
from farref.properties.zoo.creature import PYTORCH, REVIEW
from farref.properties.zoo.mutants.mutant import Handler, Mutants

MUTANTS: Final = Mutants("rref")


# -- the user ----------------------------------------------------------------------------------------------------------


@MUTANTS.enter("R25", Record, "may_go")
def pending_user_goes(_: Handler) -> Handler:
    """A user is deleted before it knows that it is counted."""
    return lambda self: not (self.handles or self.children or self.fetches)


@MUTANTS.enter("R24", Record, "may_go")
def parent_goes_before_its_children(_: Handler) -> Handler:
    """A user is deleted although a child has not accepted."""
    return lambda self: self.confirmed and not (self.handles or self.fetches)


@MUTANTS.enter("R24", Record, "may_go", origin=REVIEW)
def many_children_do_not_pin(original: Handler) -> Handler:
    """A user is deleted although three of its children have not accepted, or more."""

    def may_go(self: Record) -> bool:
        is_free = self.confirmed and not (self.handles or self.fetches)
        return original(self) or (is_free and len(self.children) >= 3)

    return may_go


@MUTANTS.enter("R20", Record, "may_go", "R20.overtaken")
def fetch_does_not_pin(_: Handler) -> Handler:
    """A user is deleted although its fetch is under way."""
    return lambda self: self.confirmed and not (self.handles or self.children)


@MUTANTS.enter("R15", User, "take_from_owner")
def fork_from_the_owner_is_pending(original: Handler) -> Handler:
    """A fork that the owner sent is not believed to be counted."""

    def take(self: User, data: Any) -> Any:
        reference = original(self, data)
        self.records[data.fork].confirmed = False
        return reference

    return take


@MUTANTS.enter("R17", User, "take_from_user")
def child_accepts_on_arrival(original: Handler) -> Handler:
    """A child accepts before the owner counts it."""

    def take(self: User, data: Any) -> Any:
        self._send(data.fork.created_on, ChildAccept(data.rref, data.fork))
        return original(self, data)

    return take


@MUTANTS.enter("R17", User, "take_from_user")
def child_accepts_on_arrival_only(original: Handler) -> Handler:
    """A child accepts before the owner counts it, and not again when it does."""

    def take(self: User, data: Any) -> Any:
        reference = original(self, data)
        self.records[data.fork].parent = None
        self._send(data.fork.created_on, ChildAccept(data.rref, data.fork))
        return reference

    return take


@MUTANTS.enter("R27", User, "time_out_creation", origin=PYTORCH + "N2")
def timeout_confirms(original: Handler) -> Handler:
    """A creation that timed out is taken for confirmed."""

    def time_out(self: User, fork: Any) -> Any:
        timed_out = original(self, fork)
        self.records[fork].confirmed = True
        return timed_out

    return time_out


@MUTANTS.enter("R27", User, "_usable")
def timed_out_handle_is_usable(_: Handler) -> Handler:
    """A handle whose creation timed out can be shared and fetched."""
    return lambda self, fork: self.records[fork]


@MUTANTS.enter("R24", User, "forget_child")
def last_child_does_not_release_its_parent(_: Handler) -> Handler:
    """A child accepts, and nobody asks whether its parent may go now."""
    return lambda self, fork: self.records[self.parents.pop(fork)].children.pop(fork, None)


@MUTANTS.enter("R28", Calls, "withdraw", origin=PYTORCH + "N4")
def user_does_not_withdraw(original: Handler) -> Handler:
    """A child whose message failed pins its parent for ever."""
    return lambda self, forks: original(self, tuple(data for data in forks if data.parent is None))


@MUTANTS.enter("R20", User, "abandon_fetch")
def abandoned_fetch_is_forgotten(_: Handler) -> Handler:
    """A fetch that the application gave up is struck off at once."""
    return lambda self, fork, fetch: self.records[fork].fetches.pop(fetch)


# -- messages ----------------------------------------------------------------------------------------------------------


@MUTANTS.enter("R7", Incoming, "take", origin=PYTORCH + "N9")
def copies_take_effect(original: Handler) -> Handler:
    """A control message takes effect as often as it arrives."""
    return lambda self, control: original(self, control) or True


@MUTANTS.enter("R7", Incoming, "take")
def what_is_below_the_mark_takes_effect(_: Handler) -> Handler:
    """The receiver forgets what is below the mark, and takes a late copy for news."""

    def take(self: Incoming, control: Control) -> bool:
        self.processed = {number for number in self.processed if number >= control.lowest}
        is_new = control.number not in self.processed
        self.processed.add(control.number)
        return is_new

    return take


@MUTANTS.enter("R7", Incoming, "_raise_mark")
def mark_is_raised_too_far(original: Handler) -> Handler:
    """The receiver takes the lowest unanswered number for an answered one."""
    return lambda self, lowest: original(self, lowest + 1)


@MUTANTS.enter("R7", Core, "_on_control")
def copies_are_not_answered(_: Handler) -> Handler:
    """A copy is ignored, so a sender whose answer was lost repeats for ever."""

    def on_control(self: Core, source: Any, control: Control, _: object) -> None:
        if self.channel.from_(source).take(control):
            self.control_handlers[type(control.body)](source, control.body)
            self.here.send(source, Ack(control.incarnation, control.number))

    return on_control


@MUTANTS.enter("R6", Outgoing, "settle")
def answers_are_ignored(original: Handler) -> Handler:
    """An answered message stays on the list."""

    def settle(self: Outgoing, number: Any, now: float) -> Any:
        waiting = self.unanswered.get(number)
        answer = original(self, number, now)
        if waiting is not None:
            self.unanswered[number] = waiting
        return answer

    return settle


@MUTANTS.enter("R16", Parking, "start", "R16.parked")
def call_runs_unconfirmed(_: Handler) -> Handler:
    """A call runs although the owner does not count its argument."""
    return lambda self, run: self._emit(run)


@MUTANTS.enter("R18", Core, "_confirm")
def user_code_runs_before_the_accept(_: Handler) -> Handler:
    """A parked call is started before its argument is accepted towards the parent."""

    def confirm(self: Core, fork: Any) -> None:
        if fork in self.parking.waited_for:
            self.parking.confirm(fork)
        self.user.confirm(fork)

    return confirm


@MUTANTS.enter("R29", Core, "_on_ack", origin=PYTORCH + "N5")
def failed_creation_confirms_nobody(original: Handler) -> Handler:
    """The answer to CreateFailed leaves the creator pending."""

    def on_ack(self: Core, source: Any, ack: Ack, content: object) -> None:
        waiting = self.channel.to(source).unanswered.get(ack.number)
        if waiting is not None and isinstance(waiting.body, CreateFailed):
            self.channel.settle(source, ack)
        else:
            original(self, source, ack, content)

    return on_ack


@MUTANTS.enter("R29", User, "creation_failed")
def failed_creation_is_withdrawn(_: Handler) -> Handler:
    """A creation that could not be sent is simply forgotten."""
    return lambda self, fork, reason: self.records.pop(fork)


@MUTANTS.enter("R28", Calls, "refuse")
def refusal_is_silent(original: Handler) -> Handler:
    """A receiver that cannot read a message throws it away and tells nobody."""

    def refuse(self: Calls, source: Any, message: Any, reason: str) -> None:
        usual = self._send

        def send(target: Any, message: Any) -> None:
            if not isinstance(message, CallFailed):
                usual(target, message)

        self._send = send
        original(self, source, message, reason)
        self._send = usual

    return refuse


@MUTANTS.enter("R3", Core, "carrier_failed")
def lost_answer_is_not_given_again(original: Handler) -> Handler:
    """An answer that could not be delivered is forgotten."""

    def carrier_failed(self: Core, target: Any, message: Any, reason: str) -> Any:
        return original(self, target, message, reason) if hasattr(message, "forks") else []

    return carrier_failed


@MUTANTS.enter("R32", Core, "shut_down")
def shutdown_refuses_nothing(_: Handler) -> Handler:
    """After shutdown has begun the application can begin anything."""
    return lambda self: None


@MUTANTS.enter("R30", Channel, "send")
def fork_request_is_sent_once(original: Handler) -> Handler:
    """A fork request is not kept for another attempt."""

    def send(self: Channel, target: Any, body: Any) -> None:
        original(self, target, body)
        if isinstance(body, ForkRequest):
            half = self.to(target)
            half.unanswered.pop(max(half.unanswered))

    return send
