"""What a search may claim when it did not see everything, and what it refuses to search at all."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import pytest

from farref.model.checker import fast, reference
from farref.model.checker.interface import Budget, Kind, ModelError, Renaming, Result, Verdict
from farref.model.values import Table
from tests.model.checker.toys import Count, Toy, counter, prop

Check = Callable[..., Result]
engines = pytest.mark.parametrize("check", [reference.check, fast.check])

ALWAYS = prop(Kind.ALWAYS, lambda s: s.at < 1000)
EVENTUALLY = prop(Kind.EVENTUALLY, lambda s: s.at == 99)
EARLY = prop(Kind.SOMETIMES, lambda s: s.at == 3, "early")
LATE = prop(Kind.SOMETIMES, lambda s: s.at == 90, "late")


@engines
@pytest.mark.parametrize("budget", [Budget(states_max=10), Budget(depth_max=10), Budget(seconds_max=0.0)])
def test_a_search_cut_short_claims_nothing_it_did_not_see(check: Check, budget: Budget) -> None:
    result = check(counter(99, wraps=False), [ALWAYS, EVENTUALLY, EARLY, LATE], budget=budget)
    assert result.verdict is Verdict.INCOMPLETE
    assert result.distinct < 100
    seen_early = budget.seconds_max is None
    assert result.verdicts == {
        "always": Verdict.INCOMPLETE,
        "eventually": Verdict.INCOMPLETE,
        "early": Verdict.HOLDS if seen_early else Verdict.INCOMPLETE,
        "late": Verdict.INCOMPLETE,
    }
    assert "stopped" in result.notes[0]


@engines
def test_the_last_level_within_the_depth_is_checked(check: Check) -> None:
    broken = prop(Kind.ALWAYS, lambda s: s.at != 9)
    assert check(counter(99, wraps=False), [broken], budget=Budget(depth_max=10)).verdict is Verdict.VIOLATED
    assert check(counter(99, wraps=False), [broken], budget=Budget(depth_max=9)).verdict is Verdict.INCOMPLETE


@engines
def test_a_budget_that_is_not_reached_does_not_matter(check: Check) -> None:
    assert check(counter(99, wraps=False), [ALWAYS], budget=Budget(101, 1000.0, 101)).verdict is Verdict.HOLDS


@engines
def test_an_interrupt_gives_what_was_found_so_far(check: Check) -> None:
    def interrupting(state: Count, which: int) -> Count | None:
        if state.at == 50:
            raise KeyboardInterrupt
        return state._replace(at=state.at + 1 + 0 * which)

    result = check(Toy(Count(0), {"tick": interrupting}), [ALWAYS, EARLY])
    assert result.verdict is Verdict.INCOMPLETE
    assert result.verdicts == {"always": Verdict.INCOMPLETE, "early": Verdict.HOLDS}
    assert result.notes[0] == "interrupted"
    assert result.distinct == 51


@engines
def test_a_step_that_is_not_deterministic(check: Check) -> None:
    ticks = count()
    model = Toy(Count(0), {"tick": lambda state, _: state._replace(at=next(ticks))})
    with pytest.raises(ModelError, match="tick"):
        check(model, [])


def test_a_step_that_is_no_candidate() -> None:
    class Hiding(Toy):
        def candidates(self, state: Count) -> list[int]:
            return [] if state.at == 0 else [0]

    model = counter(3, wraps=False)
    with pytest.raises(ModelError, match="not among the candidates"):
        reference.check(Hiding(model.initial, model.steps), ())


def test_a_step_that_reads_something_else_each_time() -> None:
    """The reference engine sees results only, and they are the same."""
    ticks = count()
    model = Toy(Count(0), {"tick": lambda state, _: state if next(ticks) % 2 and state.flag else None})
    with pytest.raises(ModelError, match="depend on nothing but the state"):
        fast.check(model, [])


class Odd(NamedTuple):
    leaf: Any


@engines
def test_leaves_that_cannot_be_hashed(check: Check) -> None:
    with pytest.raises(ModelError, match=r"state\.leaf is a list"):
        check(Toy(Odd([]), {}), [])
    with pytest.raises(ModelError, match="hashed"):
        check(Toy(Odd(None), {"spoil": lambda state, _: state._replace(leaf=[])}), [])


@engines
def test_states_that_change_their_shape(check: Check) -> None:
    model = Toy(Odd(Table((1, 2))), {"grow": lambda state, _: state._replace(leaf=Table((1, 2, 3)))})
    with pytest.raises(ModelError, match="shape"):
        check(model, [])


@engines
def test_a_renaming_that_leads_nowhere(check: Check) -> None:
    lost = Renaming(lambda _, value: (("nobody",), value))
    model = Toy(Count(0), {"tick": lambda state, _: state._replace(flag=True)}, renames=(lost,))
    with pytest.raises(ModelError, match=r"maps state\.at to state\.nobody, which does not exist"):
        check(model, [], symmetry=True)


@engines
def test_two_properties_with_one_id(check: Check) -> None:
    with pytest.raises(ModelError, match="id"):
        check(counter(3, wraps=False), [ALWAYS, ALWAYS])


@engines
def test_a_mistake_of_the_model_is_shown_as_it_is(check: Check) -> None:
    with pytest.raises(ZeroDivisionError):
        check(Toy(Count(0), {"divide": lambda state, _: state._replace(at=1 // state.at)}), [])


def test_too_large_a_graph_with_cycles_is_left_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "GRAPH_STATES_MAX", 3)
    result = fast.check(counter(9, wraps=True), [EVENTUALLY, ALWAYS])
    assert result.verdicts == {"eventually": Verdict.INCOMPLETE, "always": Verdict.HOLDS}
    assert result.verdict is Verdict.INCOMPLETE
    assert any("undecided" in note for note in result.notes)
