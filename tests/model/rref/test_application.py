"""The application's own record: it agrees with the tables under all rules, and a handler that spoils a table is found by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from farref.model.checker import fast, reference
from farref.model.checker.interface import Counterexample, Verdict
from farref.model.rref import owner, user
from farref.model.rref.messages import FetchReturn
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND, TORCH, RRefRules
from farref.model.rref.user import Handle
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties

SMALL = Bounds(2, forks=2, fetches=1, timeouts=1, failures=1, results=True, shutdown=True)
MUTANTS = {rule.name: replace(SOUND, **{rule.name: False}) for rule in fields(SOUND)}


@pytest.mark.parametrize("rules", [TORCH, *MUTANTS.values()], ids=["torch", *MUTANTS])
def test_the_tables_tell_the_truth_whatever_the_rules(rules: RRefRules) -> None:
    """So the record adds no states, and what breaks under PyTorch's rules is never G3."""
    [truth] = [one for one in rref_properties(SMALL) if one.id == "G3"]
    assert fast.check(RRefModel(SMALL, rules), (truth,)).verdict is Verdict.HOLDS


def spoilt(result: Any, **changes: Any) -> Any:
    """Change the record that a handler gives back."""
    return None if result is None else (result[0]._replace(**changes), result[1])


def drops_its_hold(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: spoilt(original(*given), held=False)


def stops_waiting(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: spoilt(original(*given), waiting=False)


def loses_the_handle(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: spoilt(original(*given), handle=Handle.NONE)


def runs_at_once(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: spoilt(original(*given), handle=Handle.HELD)


def forgets_the_fetch(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: spoilt(original(*given), fetch=user.Fetch.NONE)


def answers_at_once(original: Callable[..., Any]) -> Callable[..., Any]:
    del original
    return lambda entry, rref, fork: (entry, (FetchReturn(rref, fork),))


def fetches_for_ever(original: Callable[..., Any]) -> Callable[..., Any]:
    def fetch(record: user.UserRRef, *given: Any) -> Any:
        is_refused = record.handle is Handle.TIMED_OUT
        return original(record._replace(handle=Handle.HELD) if is_refused else record, *given)

    return fetch


def first_broken(model: RRefModel) -> Counterexample:
    found = reference.check(model, rref_properties(model.bounds)).counterexample
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("module", "handler", "mistake", "broken"),
    [
        (owner, "on_fork_request", drops_its_hold, "G3"),
        (owner, "on_share_from_user", stops_waiting, "G3"),
        (owner, "on_share_from_self", drops_its_hold, "G3"),
        (user, "on_creation_confirmed", loses_the_handle, "G3"),
        (user, "on_share_from_user", runs_at_once, "G3"),
        (user, "on_child_accept", forgets_the_fetch, "G3"),
        (owner, "on_fetch_call", answers_at_once, "P11"),
        (user, "fetch", fetches_for_ever, "P12"),
    ],
)
def test_a_handler_that_spoils_a_table_is_found(
    monkeypatch: pytest.MonkeyPatch, module: Any, handler: str, mistake: Any, broken: str
) -> None:
    monkeypatch.setattr(module, handler, mistake(getattr(module, handler)))
    assert first_broken(RRefModel(replace(SMALL, failures=0, shutdown=False))).property.id == broken
