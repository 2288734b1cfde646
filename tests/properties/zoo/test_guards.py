"""Guards are taken out one at a time, in the source, and put back."""

from __future__ import annotations

import ast

import pytest

from farref.impl.core.ids import WorkerId
from farref.impl.core.owner import Owner
from farref.properties.zoo.mutants.guards import GuardMutant, guards, sites


def test_a_test_that_leaves_is_never_true_and_any_other_always() -> None:
    text = """
def handler(self, message):
    if message is None:
        return
    if self.a and not self.b or type(message) is int:
        self.c = [one for one in message if one > 2]
    return self.d and self.e
"""
    [function] = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    found = {ast.unparse(site.test): site.counts_as for site in sites(function)}
    assert found == {
        "message is None": False,
        "self.a and (not self.b)": False,
        "one > 2": True,
        "self.d": True,
        "self.e": True,
    }


@pytest.mark.parametrize("mutant", guards().values(), ids=guards())
def test_it_is_let_loose_and_taken_back(mutant: GuardMutant) -> None:
    kind = getattr(__import__(mutant.module, fromlist=[mutant.kind]), mutant.kind)
    before = kind.__dict__[mutant.handler]
    with mutant.alive():
        assert kind.__dict__[mutant.handler] is not before
    assert kind.__dict__[mutant.handler] is before


def test_the_place_is_that_of_the_guard() -> None:
    mutant = guards()["owner.on_user_delete.2"]
    assert mutant.place.startswith("impl/core/owner.py:")
    assert "== source" in mutant.says
    assert mutant.clause == "R26"


def test_without_its_guard_a_handler_does_what_it_must_not() -> None:
    """A fork is deleted by a worker that does not hold it (R34)."""
    from farref.impl.core.core import Core
    from farref.impl.core.effects import Value
    from farref.impl.core.ids import Incarnation
    from farref.impl.core.messages import UserDelete

    def left() -> int:
        core = Core(WorkerId(0), [WorkerId(0), WorkerId(1), WorkerId(2)], Incarnation(1))
        reference = core.create_local(Value(7))
        data = core.share(reference, WorkerId(1))
        core.owner.on_user_delete(WorkerId(2), UserDelete(data.rref, data.fork))
        return len(core.owner.entries[data.rref].forks)

    assert left() == 1
    with guards()["owner.on_user_delete.2"].alive():
        assert left() == 0
    assert left() == 1
    assert Owner.on_user_delete.__module__ == "farref.impl.core.owner"
