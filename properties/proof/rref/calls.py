"""User calls arrive, or are reported as failed (R4). They are neither lost nor copied. One function for each kind."""

from __future__ import annotations

from collections.abc import Iterator

from farref.properties.proof.logic.formulas import Formula, all_of
from farref.properties.proof.rref.effects import entered, given_to_owner, release, settle
from farref.properties.proof.rref.point import Point, Step
from farref.properties.proof.rref.rules import Rules
from farref.properties.proof.rref.state import State, for_owner


def remote_call(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner makes the entry and counts the creator in one step, and runs the function (R10, R11)."""
    guard, taken = s.remote_call(at.fork) & at.mine, s.at(at.fork, remote_call=False)
    made = entered(taken, at.rref, created=True).at(at.rref, running=True)
    if not rules["registers_on_receipt"]:
        yield Step("RemoteCall", guard, taken.at(at.rref, running=True))
    elif rules["registers_atomically"]:
        yield Step("RemoteCall", guard, made.at(at.fork, counted=True, user_accept=True))
    else:
        yield Step("RemoteCall", guard, made)
        late = all_of(s.remote(at.fork), s.pending(at.fork), ~s.remote_call(at.fork), ~s.counted(at.fork), at.mine)
        yield Step("RegisterCreator", late, s.at(at.fork, counted=True, user_accept=True))


def call(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A fork arrives as an argument. From user to user, the call waits until the fork is counted (R16)."""
    yield from _carried("Call", s.call(at.fork), s.at(at.fork, call=False), at, rules, is_call=True)


def result(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A fork arrives in a result, and can be used at once (R16)."""
    yield from _carried("Return", s.result(at.fork), s.at(at.fork, result=False), at, rules, is_call=False)


def _carried(name: str, flies: Formula, s: State, at: Point, rules: Rules, *, is_call: bool) -> Iterator[Step]:
    """The four directions of sharing (R14 to R19)."""
    guard, to_owner, from_user = flies & at.mine, for_owner(at.fork), s.has_parent(at.fork)
    on_owner = given_to_owner(s, at.rref, is_call)
    yield Step(f"{name} from owner to owner", all_of(guard, to_owner, ~from_user), on_owner.at(at.fork, counted=False))
    yield Step(f"{name} from user to owner", all_of(guard, to_owner, from_user), on_owner.send("child_accept", at.fork))
    phase = {"confirmed" if rules["confirms_forks_from_owner"] else "pending": True}
    yield Step(f"{name} from owner to user", all_of(guard, ~to_owner, ~from_user), s.at(at.fork, held=True, **phase))
    asks = s.at(at.fork, pending=True, parked=is_call, held=not is_call).send("fork_request", at.fork)
    early = asks.send("child_accept", at.fork)
    yield Step(
        f"{name} from user to user",
        all_of(guard, ~to_owner, from_user),
        asks if rules["accepts_after_confirmation"] else early,
    )


def user_accept(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The creator learns that it is counted (R10)."""
    known = s.at(at.fork, user_accept=False, pending=False, confirmed=s.live(at.fork))
    yield from release("UserAccept", s.user_accept(at.fork), known, at.fork, rules)


def remote_failed(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The creator learns that its call never left, and has the RRef created as an error (R29)."""
    told = s.at(at.fork, remote_failed=False)
    after = told.send("create_failed", at.fork) if rules["fails_creation_as_error"] else told
    yield Step("RemoteFailed", s.remote_failed(at.fork), after)


def call_failed(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """Whoever shared a fork learns that nobody received it, and withdraws it (R28)."""
    told = s.at(at.fork, call_failed=False)
    if not rules["withdraws_failed_shares"]:
        yield Step("CallFailed", s.call_failed(at.fork), told)
        return
    at_owner = all_of(s.call_failed(at.fork), at.mine, ~s.has_parent(at.fork))
    yield from settle("CallFailed at the owner", at_owner, told.at(at.fork, counted=False), at.rref, rules)
    at_parent = s.call_failed(at.fork) & s.parent(at.fork, at.other)
    yield from release("CallFailed at the parent", at_parent, told.at(at.fork, kept=False), at.other, rules)


def fetch_call(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner answers a fetch, or parks it until there is a value (R20)."""
    guard, taken = s.fetch_call(at.fork) & at.mine, s.at(at.fork, fetch_call=False)
    yield Step("FetchCall is answered", guard & s.ready(at.rref), taken.at(at.fork, fetch_return=True))
    yield Step("FetchCall is parked", guard & ~s.ready(at.rref), taken.at(at.fork, fetch_parked=True))


def fetch_return(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The user has its value (R20)."""
    ended = s.at(at.fork, fetch_return=False, asking=False, given_up=False)
    yield from release("FetchReturn", s.fetch_return(at.fork), ended, at.fork, rules)


def fetch_failed(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The user learns that its fetch was never sent (R3, R20)."""
    ended = s.at(at.fork, fetch_failed=False, asking=False, given_up=False)
    yield from release("FetchFailed", s.fetch_failed(at.fork), ended, at.fork, rules)


def fail_call(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A user call cannot be sent or understood, and its sender is told so for certain (R3)."""
    yield Step("FailCall RemoteCall", s.remote_call(at.fork), s.at(at.fork, remote_call=False, remote_failed=True))
    yield Step("FailCall of a fork", s.travels(at.fork), s.at(at.fork, call=False, result=False, call_failed=True))
    yield Step("FailCall FetchCall", s.fetch_call(at.fork), s.at(at.fork, fetch_call=False, fetch_failed=True))
