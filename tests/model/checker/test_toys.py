"""Both engines on models small enough to be counted by hand."""

from __future__ import annotations

from typing import Any

import pytest

from farref.model.checker import fast, reference
from farref.model.checker.interface import Case, Kind, Model, Progress, Property, Renaming, Result, Verdict
from farref.model.values import Table
from tests.model.checker.toys import Count, Fork, Toy, Worker, channel, counter, graph, philosophers, prop, workers
from tests.model.play import states

ENGINES = [reference.check, fast.check]
ALIKE = ("verdict", "distinct", "generated", "depth", "verdicts", "coverage")


def both(model: Model, *properties: Property, symmetry: bool = False, stop_at_violation: bool = True) -> Result:
    """Check with both engines, and see that they agree."""
    one, other = (
        engine(model, properties, symmetry=symmetry, stop_at_violation=stop_at_violation) for engine in ENGINES
    )
    for name in ALIKE:
        assert getattr(one, name) == getattr(other, name), name
    assert {name: len(run) for name, run in one.witnesses.items()} == {n: len(r) for n, r in other.witnesses.items()}
    assert (one.counterexample is None) == (other.counterexample is None)
    if one.counterexample and other.counterexample:
        assert one.counterexample.property == other.counterexample.property
        assert symmetry or one.counterexample.case == other.counterexample.case
        assert len(one.counterexample.actions) == len(other.counterexample.actions)
        assert one.counterexample.loop_start == other.counterexample.loop_start
    return other


def test_a_counter_that_stops() -> None:
    result = both(
        counter(5, wraps=False),
        prop(Kind.ALWAYS, lambda s: s.at <= 5),
        prop(Kind.EVENTUALLY, lambda s: s.at == 5),
        prop(Kind.SOMETIMES, lambda s: s.at == 3),
    )
    assert (result.verdict, result.distinct, result.generated, result.depth) == (Verdict.HOLDS, 6, 6, 6)
    assert result.coverage == {"tick": 5}
    assert len(result.witnesses["sometimes"]) == 3


def test_a_counter_that_wraps_is_a_fair_loop() -> None:
    model = counter(5, wraps=True)
    result = both(model, prop(Kind.EVENTUALLY, lambda s: s.flag))
    assert (result.verdict, result.distinct, result.generated) == (Verdict.VIOLATED, 6, 7)
    assert result.counterexample is not None
    assert result.counterexample.loop_start == 0
    run = states(model, result.counterexample.actions)
    assert run[-1] == run[0]
    assert both(model, prop(Kind.EVENTUALLY, lambda s: s.at == 4)).verdict is Verdict.HOLDS


def test_a_counter_with_more_values_than_expected() -> None:
    result = both(counter(700, wraps=False), prop(Kind.ALWAYS, lambda s: s.at != 650))
    assert result.counterexample is not None
    assert len(result.counterexample.actions) == 650
    assert result.distinct == 651


def test_a_violation_has_a_shortest_run_and_stops_the_search() -> None:
    result = both(counter(9, wraps=False), prop(Kind.ALWAYS, lambda s: s.at < 4), prop(Kind.EVENTUALLY, bool))
    assert result.distinct == 5
    assert result.verdicts == {"always": Verdict.VIOLATED, "eventually": Verdict.INCOMPLETE}
    whole = both(counter(9, wraps=False), prop(Kind.ALWAYS, lambda s: s.at < 4), stop_at_violation=False)
    assert whole.distinct == 10
    assert whole.counterexample is not None
    assert len(whole.counterexample.actions) == 4


def test_the_first_case_counts_wherever_in_the_level_it_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "CHUNK", 1)
    cases = (Case("two", lambda s: s.at != 2), Case("one", lambda s: s.at != 1))
    result = both(graph({0: {"a": 1, "b": 2}}, "ab"), Property("p", "", Kind.ALWAYS, "", cases))
    assert result.counterexample is not None
    assert result.counterexample.case == "two"


def test_a_join_does_not_hide_an_end() -> None:
    """Two runs meet in state 3; one has seen 1 on its way, the other has not, and both end there."""
    model = graph({0: {"a": 1, "b": 2}, 1: {"a": 3}, 2: {"a": 3}, 3: {}}, "ab")
    result = both(model, prop(Kind.EVENTUALLY, lambda s: s.at == 1))
    assert result.verdict is Verdict.VIOLATED
    assert both(model, prop(Kind.EVENTUALLY, lambda s: s.at == 3)).verdict is Verdict.HOLDS


def test_a_lasso() -> None:
    model = graph({0: {"a": 1}, 1: {"a": 2}, 2: {"a": 3}, 3: {"a": 2}}, "a")
    result = both(model, prop(Kind.EVENTUALLY, lambda s: s.at == 1))
    assert result.counterexample is not None
    assert (len(result.counterexample.actions), result.counterexample.loop_start) == (4, 2)


def test_fairness_forgives_a_loop_that_starves_an_action() -> None:
    """In 0 and 1 alike `out` is enabled, so no fair run stays; but if it is not enabled in 1, a run may stay."""
    goal = prop(Kind.EVENTUALLY, lambda s: s.at == 2)
    assert (
        both(graph({0: {"a": 1, "out": 2}, 1: {"a": 0, "out": 2}, 2: {}}, ["a", "out"]), goal).verdict is Verdict.HOLDS
    )
    result = both(graph({0: {"a": 1, "out": 2}, 1: {"a": 0}, 2: {}}, ["a", "out"]), goal)
    assert result.verdict is Verdict.VIOLATED


def test_a_state_that_only_stays() -> None:
    """An action that changes nothing goes round for ever, if nothing else is enabled."""
    result = both(graph({0: {"a": 1}, 1: {"a": 1}}, "a"), prop(Kind.EVENTUALLY, lambda s: s.at == 0))
    assert result.counterexample is not None
    assert (len(result.counterexample.actions), result.counterexample.loop_start) == (2, 1)
    resting = graph({0: {"a": 0, "b": 1}, 1: {}}, "ab")
    assert both(resting, prop(Kind.EVENTUALLY, lambda s: s.at == 1)).verdict is Verdict.HOLDS


def test_what_is_never_reached() -> None:
    model = graph({0: {"a": 1}}, "ab")
    result = both(model, prop(Kind.SOMETIMES, lambda s: s.at == 7))
    assert result.verdict is Verdict.VIOLATED
    assert result.counterexample is not None
    assert (result.counterexample.case, result.counterexample.actions) == ("never reached", ())
    assert result.coverage == {"a": 1, "b": 0}


@pytest.mark.parametrize("count", [2, 3, 4])
def test_philosophers_can_starve(count: int) -> None:
    """Each is hungry, holds a fork, or has eaten: 3 to the power of the count."""
    model = philosophers(count)
    result = both(model, prop(Kind.EVENTUALLY, lambda meal: all(meal.eaten)), stop_at_violation=False)
    assert result.distinct == 3**count
    assert result.counterexample is not None
    assert len(result.counterexample.actions) == count
    assert states(model, result.counterexample.actions)[-1].forks == (Fork.LEFT,) * count


def test_philosophers_are_alike() -> None:
    model = philosophers(5)
    fair = prop(Kind.EVENTUALLY, lambda meal: meal.forks[0] is not Fork.RIGHT)
    whole, folded = both(model, fair), both(model, fair, symmetry=True)
    assert whole.verdict is folded.verdict is Verdict.HOLDS
    assert whole.depth == folded.depth
    assert whole.distinct == 3**5
    assert folded.distinct == (3**5 - 3) // 5 + 3  # necklaces of five beads in three colours


def test_a_renaming_may_rename_values_too() -> None:
    model = workers(4)
    done = prop(Kind.EVENTUALLY, lambda shop: all(worker is Worker.DONE for worker in shop.workers))
    whole, folded = both(model, done), both(model, done, symmetry=True)
    # A worker's phase and, if anybody leads, whether it is the leader: 15 multisets of phases without a leader, and with
    # one the leader's phase (busy or done) and 10 multisets of the others'.
    assert folded.distinct == 15 + 2 * 10
    assert whole.distinct == 3**4 + 4 * 2 * 3**3
    assert whole.depth == folded.depth == 10


def test_symmetry_does_not_hide_who_was_fair() -> None:
    """The token goes to and fro; either can stop while holding it, so neither is forced to. Folded, it looks otherwise."""

    def spin(state: Count, who: int) -> Count | None:
        return state._replace(at=1 - who) if state.at == who and not state.flag else None

    def stop(state: Count, who: int) -> Count | None:
        return state._replace(flag=True) if state.at == who and not state.flag else None

    swap = Renaming(lambda path, value: (path, 1 - value if path == ("at",) else value))
    model = Toy(Count(0), {"spin": spin, "stop": stop}, 2, (swap,))
    stops = prop(Kind.EVENTUALLY, lambda s: s.flag)
    assert both(model, stops).verdict is Verdict.VIOLATED
    folded = both(model, stops, symmetry=True)
    assert (folded.distinct, folded.verdict) == (2, Verdict.VIOLATED)


def test_a_lossy_channel_delivers_in_the_end_if_somebody_retries() -> None:
    arrives = prop(Kind.EVENTUALLY, lambda s: s.arrived and not s.unanswered)
    result = both(channel(3), arrives)
    assert result.verdict is Verdict.HOLDS
    assert any("proved" in note for note in result.notes)
    assert both(channel(1, retries=False), arrives).counterexample is not None


def test_a_model_that_cannot_move() -> None:
    still: list[Any] = [Count(0), 7, Table(())]
    for state in still:
        result = both(
            Toy(state, {}), prop(Kind.ALWAYS, lambda s: s is not None), prop(Kind.EVENTUALLY, lambda _: False)
        )
        assert (result.distinct, result.generated, result.depth) == (1, 1, 1)
        assert result.verdicts == {"always": Verdict.INCOMPLETE, "eventually": Verdict.VIOLATED}


def test_progress_is_told_each_level() -> None:
    for engine in ENGINES:
        told: list[Progress] = []
        engine(counter(4, wraps=False), [], on_progress=told.append)
        assert [progress.distinct for progress in told] == [2, 3, 4, 5, 5]
