"""Random walks: what they find is real, and what they do not find they do not claim."""

from __future__ import annotations

from collections import Counter

from farref.model.checker.interface import Budget, Kind, Verdict
from farref.model.checker.walk import walk
from tests.model.checker.toys import Count, Toy, channel, counter, philosophers, prop
from tests.model.play import states


def test_a_walk_finds_starving_philosophers() -> None:
    model = philosophers(3)
    result = walk(model, [prop(Kind.EVENTUALLY, lambda m: all(m.eaten))], seed=1, walks=500, steps_max=50)
    assert result.verdict is Verdict.VIOLATED
    assert result.counterexample is not None
    end = states(model, result.counterexample.actions)[-1]
    assert all(model.step(end, action) is None for action in model.actions)
    assert not all(end.eaten)


def test_nothing_found_is_incomplete_and_the_seed_decides() -> None:
    properties = [prop(Kind.ALWAYS, bool), prop(Kind.SOMETIMES, lambda s: s.arrived)]
    one, again = (walk(channel(2), properties, seed=7, walks=20, steps_max=30) for _ in range(2))
    assert one.verdict is Verdict.INCOMPLETE
    assert one.verdicts == {"always": Verdict.INCOMPLETE, "sometimes": Verdict.HOLDS}
    assert (one.coverage, one.witnesses, one.generated) == (again.coverage, again.witnesses, again.generated)


def test_enabled_actions_are_equally_likely() -> None:
    steps = {name: lambda state, which: state if which % 2 == 0 else None for name in "abc"}
    result = walk(Toy(Count(0), steps, size=2), [], seed=3, walks=1, steps_max=3000)
    assert set(result.coverage) == set("abc")
    assert all(900 < count < 1100 for count in Counter(result.coverage).values())


def test_budget_and_interrupt() -> None:
    assert (
        "stopped"
        in walk(counter(50, wraps=True), [], seed=1, walks=10, steps_max=10, budget=Budget(states_max=5)).notes[0]
    )

    def interrupting(state: Count, _: int) -> Count:
        if state.at == 5:
            raise KeyboardInterrupt
        return state._replace(at=state.at + 1)

    result = walk(Toy(Count(0), {"tick": interrupting}), [], seed=1, walks=10, steps_max=10)
    assert (result.notes[0], result.verdict) == ("interrupted", Verdict.INCOMPLETE)
