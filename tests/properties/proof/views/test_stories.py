"""What goes wrong without a rule, step by step: the very steps of the proof, taken in a small world.

Workers: B owns x, A creates it, C, D and E are others. View v1 excludes C, view v2 excludes C and E. Forks have holders and
minters from the start, as they will be minted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

import pytest

from farref.properties.proof.link.steps import Compiled, is_a
from farref.properties.proof.logic.formulas import FALSE
from farref.properties.proof.logic.small import Fact, Follower, Small, Thing, compiled
from farref.properties.proof.views.point import POINT
from farref.properties.proof.views.rules import SOUND
from farref.properties.proof.views.safety import RECLAIMING, VIEWS
from farref.properties.proof.views.steps import steps

EXCLUDED: Final = {"v0": "", "v1": "C", "v2": "CE"}
PARAMETERS: Final = (POINT.fork, POINT.other, POINT.rref, POINT.worker, POINT.view)
GOALS: Final = {one.id: compiled(one.holds(VIEWS.state)) for one in RECLAIMING.goals}
INVARIANT: Final = {one.id: compiled(one.holds(VIEWS.state)) for one in RECLAIMING.invariant}


@cache
def ways(missing: str) -> tuple[Compiled, ...]:
    """Write all steps as functions, where one rule is not followed."""
    rules = {**SOUND, missing: False} if missing else SOUND
    return tuple(
        Compiled(case.name, compiled(case.guard, PARAMETERS), Follower(VIEWS.state, case.after, PARAMETERS))
        for case in steps(VIEWS.state, rules)
        if case.guard is not FALSE
    )


class Story:
    """A world in which steps are taken; it notes which goal is broken first, and after how many steps."""

    def __init__(self, forks: Mapping[str, str], missing: str = "") -> None:
        self.missing, self.taken, self.broken = missing, 0, dict[str, int]()
        made: dict[Fact, Thing] = {("rref_of", fork): "x" for fork in forks}
        made |= {("holder", fork): both[0] for fork, both in forks.items()}
        made |= {("minter", fork): both[1] for fork, both in forks.items()}
        functions: dict[Fact, Thing] = {**made, ("owner", "x"): "B", ("creator", "x"): "A"}
        facts: set[Fact] = {("excluded_in", view, who) for view, lost in EXCLUDED.items() for who in lost}
        facts |= {("not_after", one, other) for one in EXCLUDED for other in EXCLUDED if one <= other}
        things = {"Fork": (*forks,), "RRef": ("x",), "Worker": (*"ABCDE",), "View": (*EXCLUDED,)}
        self.world = Small(things, frozenset(facts), functions)

    def __call__(self, name: str, fork: str = "f0", other: str = "f0", *, who: str = "B", view: str = "v0") -> Story:
        """Take a step. Shares are arguments of calls, unless they are called results."""
        facts = self.world.facts | ({("as_call",)} if not name.endswith(", in a result") else set())
        here, at = Small(self.world.things, facts, self.world.functions), (fork, other, "x", who, view)
        wanted = name.removesuffix(", in a result")
        [way] = [one for one in ways(self.missing) if is_a(one.name, wanted) and one.guard(here, *at)]
        after = way.after(here, *at)
        self.world, self.taken = Small(after.things, after.facts - {("as_call",)}, after.functions), self.taken + 1
        for goal, holds in GOALS.items():
            if not holds(self.world):
                self.broken.setdefault(goal, self.taken)
        return self

    def created(self) -> Story:
        """A creates x on B."""
        return self("CreateRemote")("RemoteCall")("UserAccept")("FinishFunction")

    def handed_on(self) -> Story:
        """A creates x on B and shares it with C; C is counted, and A lets go."""
        self.created()("UserShare", "f1", "f0")("Call from user to user", "f1")("ForkRequest", "f1")
        self("Ack(ForkRequest)", "f1")("ChildAccept", "f1", "f0")("Ack(ChildAccept)", "f1")
        return self("LetGo")("UserDelete")("Ack(UserDelete)")


HEIR: Final = {"f0": "AA", "f1": "CA", "f2": "DC"}
"""C's fork f1, and f2, which D has from C: holder, then minter."""


def test_an_owner_that_does_not_wait_drops_what_an_heir_holds() -> None:
    """R41: D is pending, its ForkRequest under way. B excludes C and releases its fork at once."""
    story = Story(HEIR, "waits_until_settled").handed_on()("UserShare", "f2", "f1")("Call from user to user", "f2")
    assert story.broken == {}
    story("Install", who="B", view="v1")("Bury", view="v1")("Reclaim a fork", "f1")
    assert {"P1 user", "V-cut"} <= story.broken.keys()


def test_who_was_excluded_since_must_have_settled_too() -> None:
    """R40: E has f2 from C, and D f3 from E. D has settled view 1, in which E is a member, and E has not."""
    story = Story({"f0": "AA", "f1": "CA", "f2": "EC", "f3": "DE"}, "same_view").handed_on()
    story("UserShare, in a result", "f2", "f1")("Return from user to user", "f2")
    story("UserShare", "f3", "f2")("Call from user to user", "f3")
    for who in "BAD":
        story("Install", who=who, view="v1")("Settle", who=who, view="v1")
    assert story.broken == {}
    story("Bury", view="v1")("Reclaim a fork", "f1")
    assert "P1 user" in story.broken


def test_a_parent_that_forgets_a_lost_child_drops_what_an_heir_holds() -> None:
    """R42: C is pending and has shared with D. A excludes C, forgets it, and lets go."""
    story = Story(HEIR, "children_wait_too").created()("UserShare, in a result", "f1", "f0")
    story("Return from user to user", "f1")("UserShare", "f2", "f1")("Call from user to user", "f2")
    story("Install", who="A", view="v1")("Forget a child", "f1", "f0")("LetGo")("UserDelete")
    assert "P1 user" in story.broken


def test_with_the_rules_nobody_can_be_buried_there() -> None:
    """The first run comes to a stop before it goes wrong."""
    story = Story(HEIR).handed_on()("UserShare", "f2", "f1")("Call from user to user", "f2")(
        "Install", who="B", view="v1"
    )
    with pytest.raises(ValueError, match="not enough values"):
        story("Bury", view="v1")


def test_a_worker_that_is_excluded_by_mistake_meets_refusals_and_an_heir_keeps_the_value() -> None:
    """C lives on. What it sends is refused; D, who inherited from it, is counted; and in the end nothing is left."""
    story = Story({**HEIR, "f3": "DC"}).handed_on()("UserShare", "f2", "f1")("Call from user to user", "f2")
    for who in "BAED":
        story("Install", who=who, view="v1")
    story("UserShare", "f3", "f1")("Call refused", "f3")
    for who in "BAE":
        story("Settle", who=who, view="v1")
    with pytest.raises(ValueError, match="not enough values"):
        story("Settle", who="D", view="v1")  # f2 is an heir that nobody counts yet
    story("ForkRequest", "f2")("Ack(ForkRequest)", "f2")("Settle", who="D", view="v1")
    story("Bury", view="v1")("Reclaim a fork", "f1")("FetchValue", "f1")("FetchCall refused", "f1")
    assert ("ready", "x") in story.world.facts
    story("LetGo", "f2")("UserDelete", "f2")
    assert ("gone", "x") in story.world.facts
    assert story.broken == {}
    assert [name for name, holds in INVARIANT.items() if not holds(story.world)] == []
