"""Everything that can happen: the steps of RRefs, taken only from those that one still hears, and what is done about views.

Each step of the proof of RRefs is a step here, with one more condition: whoever receives something has not excluded the sender.
What comes from somebody excluded is refused: it arrives, and nothing happens (R37). The rest of a step is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, cast

from farref.properties.proof.logic.formulas import FALSE, TRUE, Formula, Term, all_of, same
from farref.properties.proof.rref import rules as rref_rules
from farref.properties.proof.rref.controls import NAMES
from farref.properties.proof.rref.steps import STEPS
from farref.properties.proof.views import members
from farref.properties.proof.views.point import POINT, Point, Step
from farref.properties.proof.views.rules import SOUND, Rules
from farref.properties.proof.views.state import State, creator, holder, minter, owner, owner_of

MEMBERS: Final = (
    members.install,
    members.settle_view,
    members.bury,
    members.reclaim,
    members.forget_child,
    members.stop_telling,
)


def steps(state: State, rules: Rules = SOUND, point: Point = POINT) -> Iterator[Step]:
    """List every way in which every step can go."""
    for step in MEMBERS:
        yield from step(state, point, rules)
    yield from excluded_creation(state, point, rules)
    for arrival in ARRIVALS:
        guard = arrival.flies(state, point) & deaf(state, arrival, point, rules)
        yield Step(f"{arrival.name} refused", guard, arrival.taken(state, point))
    for usual in STEPS:
        for case in usual(state, point, rref_rules.SOUND):
            yield _among_members(members.in_views(case, point), state, point, rules)


# -- what arrives ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrival:
    """Something that arrives: by what name, where it is under way, from whom and to whom, and what is left if it is refused."""

    name: str
    flies: Callable[[State, Point], Formula]
    source: Callable[[Point], Term]
    target: Callable[[Point], Term]
    taken: Callable[[State, Point], State]


def _to_owner(name: str, relation: str) -> Arrival:
    return Arrival(
        name,
        lambda s, at: getattr(s, relation)(at.fork),
        lambda at: holder(at.fork),
        lambda at: owner_of(at.fork),
        lambda s, at: s.at(at.fork, **{relation: False}),
    )


def _to_holder(name: str, relation: str) -> Arrival:
    return replace(_to_owner(name, relation), source=lambda at: minter(at.fork), target=lambda at: holder(at.fork))


def _control(kind: str) -> Arrival:
    return Arrival(
        NAMES[kind],
        lambda s, at: s.control(kind).flying(at.fork),
        lambda at: holder(at.fork),
        lambda at: owner_of(at.fork),
        lambda s, at: cast(State, s.with_control(kind, at.fork, flying=at.stays)),
    )


def _to_parent(kind: str) -> Arrival:
    usual = _control(kind)
    return replace(
        usual,
        flies=lambda s, at: usual.flies(s, at) & s.parent(at.fork, at.other),
        target=lambda at: holder(at.other),
    )


ARRIVALS: Final = (
    _to_owner("RemoteCall", "remote_call"),
    _to_owner("FetchCall", "fetch_call"),
    _to_holder("Call", "call"),
    _to_holder("Return", "result"),
    _control("fork_request"),
    _control("user_delete"),
    _control("create_failed"),
    _to_parent("child_accept"),
)
"""What can come from somebody who is excluded. An owner is not, so its answers are always heard."""


def deaf(s: State, arrival: Arrival, at: Point, rules: Rules) -> Formula:
    """Say that whoever gets something takes nothing from its sender."""
    return s.shuns(arrival.target(at), arrival.source(at)) if rules["refuses_the_excluded"] else FALSE


# -- the steps of RRefs ------------------------------------------------------------------------------------------------


def _among_members(case: Step, s: State, at: Point, rules: Rules) -> Step:
    """Say of a step who takes it: the holder of a fork shares it, and what arrives is heard."""
    return replace(case, guard=all_of(case.guard, _by_whom(case.name, at), _heard(case.name, s, at, rules)))


def _by_whom(name: str, at: Point) -> Formula:
    match name:
        case "CreateRemote":
            return same(holder(at.fork), creator(at.rref))
        case "OwnerShare":
            return same(minter(at.fork), owner(at.rref))
        case "UserShare":
            return same(minter(at.fork), holder(at.other))
        case _:
            return TRUE


def _heard(name: str, s: State, at: Point, rules: Rules) -> Formula:
    if name == "CreateRemote":
        return ~_is_cut_off(s, at, rules)
    word = name.partition(":")[0].partition(" ")[0]
    found = next((one for one in ARRIVALS if one.name == word), None)
    if found is None:
        return TRUE
    return all_of(found.flies(s, at), ~deaf(s, found, at, rules))


def excluded_creation(s: State, at: Point, rules: Rules) -> Iterator[Step]:
    """Somebody whom the owner has excluded creates an RRef there: it is an error at once, and kept for its creator (R37)."""
    for usual in STEPS:
        for case in usual(s, at, rref_rules.SOUND):
            if case.name == "CreateRemote":
                guard = all_of(case.guard, _by_whom(case.name, at), _is_cut_off(s, at, rules))
                after = cast(State, case.after).at(at.rref, ready=True).at(at.fork, counted=True)
                yield Step("CreateRemote by somebody excluded", guard, after)


def _is_cut_off(s: State, at: Point, rules: Rules) -> Formula:
    return s.shuns(owner(at.rref), holder(at.fork)) if rules["refuses_the_excluded"] else FALSE
