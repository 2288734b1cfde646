"""What the application does, and what its functions and its clock do. One function for each step."""

from __future__ import annotations

from collections.abc import Iterator

from farref.properties.proof.logic.formulas import all_of, same
from farref.properties.proof.rref.effects import entered, release, served, settle
from farref.properties.proof.rref.point import Point, Step
from farref.properties.proof.rref.rules import Rules
from farref.properties.proof.rref.state import State, for_owner, rref_of

# -- creation ----------------------------------------------------------------------------------------------------------


def create_local(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner wraps a value it has (R13)."""
    yield Step("CreateLocal", ~s.begun(at.rref), s.at(at.rref, begun=True, ready=True, owner_holds=True))


def create_on_self(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner runs a function on itself and keeps its result (R12)."""
    after = s.at(at.rref, begun=True, created=True, running=True, owner_holds=True)
    yield Step("CreateOnSelf", ~s.begun(at.rref), after)


def create_remote(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """Another worker has the owner run a function and keep its result (R10)."""
    guard = all_of(~s.begun(at.rref), ~s.minted(at.fork), at.mine, ~for_owner(at.fork))
    begun = s.at(at.rref, begun=True, by_remote=True)
    yield Step(
        "CreateRemote", guard, begun.at(at.fork, minted=True, remote=True, pending=True, held=True, remote_call=True)
    )


def finish_function(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The function that computes the value ends (R23)."""
    ended = s.at(at.rref, running=False)
    done = served(ended.at(at.rref, created=False, ready=True), at.rref)
    yield from settle("FinishFunction", s.running(at.rref) & s.created(at.rref), done, at.rref, rules)
    nothing = s.running(at.rref) & ~s.created(at.rref)
    if rules["registers_on_receipt"]:
        yield Step("FinishFunction of an entry that went", nothing, ended)
    else:
        late = served(entered(ended, at.rref, ready=True), at.rref).at(at.fork, counted=True, user_accept=True)
        yield Step("FinishFunction registers", all_of(nothing, s.remote(at.fork), at.mine), late)


# -- sharing -----------------------------------------------------------------------------------------------------------


def owner_share(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The owner counts a fork, then sends it (R14)."""
    guard = all_of(s.owner_holds(at.rref), s.listed(at.rref), ~s.minted(at.fork), at.mine)
    sent = s.at(at.fork, minted=True, call=at.as_call, result=~at.as_call)
    yield Step("OwnerShare", guard, sent.at(at.fork, counted=True) if rules["owner_registers_shares"] else sent)


def user_share(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A user lists a child, and sends it (R16, R19, R24)."""
    child, parent = at.fork, at.other
    guard = all_of(s.held(parent), same(rref_of(parent), at.rref), ~s.minted(child), at.mine)
    sent = s.at(child, minted=True, has_parent=True, kept=True, call=at.as_call, result=~at.as_call)
    yield Step("UserShare", guard, sent.but(parent=lambda x, y: s.parent(x, y) | (same(x, child) & same(y, parent))))


# -- use ---------------------------------------------------------------------------------------------------------------


def fetch_value(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The application asks for the value (R20)."""
    yield Step("FetchValue", s.held(at.fork) & ~s.fetches(at.fork), s.at(at.fork, asking=True, fetch_call=True))


def abandon_fetch(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The application gives up waiting for the value (R20, R27)."""
    yield Step("AbandonFetch", s.asking(at.fork), s.at(at.fork, asking=False, given_up=True))


def time_out_creation(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The application is told that confirming takes too long. Here that may happen to any pending user (R27)."""
    after = s.at(at.fork, held=False, timed_out=True)
    if not rules["timeout_is_only_an_answer"]:
        after = after.at(at.fork, pending=False, confirmed=True)
    yield Step("TimeOutCreation", s.pending(at.fork) & s.held(at.fork), after)


def let_go(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """The application lets go of its handle. Code that waits for the value cannot (R26)."""
    guard = (s.held(at.fork) | s.timed_out(at.fork)) & ~s.asking(at.fork)
    yield from release("LetGo", guard, s.at(at.fork, held=False, timed_out=False), at.fork, rules)


def owner_let_go(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """Code on the owner lets go. An entry that is only expected is not for a handle to remove (R22)."""
    guard = s.owner_holds(at.rref) & ~s.owner_waits(at.rref)
    free = s.at(at.rref, owner_holds=False)
    yield Step("OwnerLetGo before the creation", guard & s.expected(at.rref), free)
    yield from settle("OwnerLetGo", guard & ~s.expected(at.rref), free, at.rref, rules)


def end_call(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """A child accepts as late as its function ends: only without `accepts_before_user_code` (R18)."""
    if not rules["accepts_before_user_code"]:
        owes = all_of(s.confirmed(at.fork), s.held(at.fork), s.kept(at.fork), ~s.child_accept.unanswered(at.fork))
        yield Step("EndCall", owes, s.send("child_accept", at.fork))
