"""The proof that no run goes round for ever: what it must find, and what it must not."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from farref.model.checker.cycles import has_cycle
from farref.model.checker.ranking import Move, is_acyclic


def move(action: str, reads: dict[int, int], **changes: int) -> Move:
    new = {int(name[1:]): code for name, code in changes.items()}
    return Move(action, reads, tuple((column, reads[column], code) for column, code in new.items()))


def test_a_phase_advances() -> None:
    assert is_acyclic([move("a", {0: 0}, c0=1), move("b", {0: 1}, c0=2)], [3])
    assert not is_acyclic([move("a", {0: 0}, c0=1), move("b", {0: 1}, c0=0)], [2])


def test_a_budget_pays_for_a_cycle() -> None:
    there, back = move("there", {0: 0, 1: 1}, c0=1, c1=0), move("back", {0: 1}, c0=0)
    assert is_acyclic([there, back], [2, 2])
    assert not is_acyclic([move("there", {0: 0}, c0=1), back], [2, 2])


def test_a_message_sent_again_until_it_is_answered() -> None:
    unanswered, message, answer = range(3)
    send = move("send", {unanswered: 1, message: 0, answer: 0}, c1=1)
    arrive = [move("arrive", {message: 1, answer: code}, c1=0, **({} if code else {"c2": 1})) for code in (0, 1)]
    settle = [move("settle", {answer: 1, unanswered: code}, c2=0, **({"c0": 0} if code else {})) for code in (0, 1)]
    assert is_acyclic([send, *arrive, *settle], [2, 2, 2])
    forgetful = [move("settle", {answer: 1}, c2=0)]
    assert not is_acyclic([send, *arrive, *forgetful], [2, 2, 2])


COLUMNS = 3
rows = st.tuples(*[st.integers(0, 1)] * COLUMNS)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.dictionaries(st.integers(0, 2), st.integers(0, 1), min_size=1), rows), max_size=7))
def test_it_is_never_wrong_about_a_cycle(drawn: list[tuple[dict[int, int], tuple[int, ...]]]) -> None:
    moves = [
        Move(number, reads, tuple((c, old, new[c]) for c, old in reads.items() if old != new[c]))
        for number, (reads, new) in enumerate(drawn)
    ]
    graph: list[list[tuple[int, int]]] = []
    for state in range(2**COLUMNS):
        graph.append([])
        for one in moves:
            if one.changes and all(state >> column & 1 == code for column, code in one.reads.items()):
                target = state
                for column, _, _ in one.changes:
                    target ^= 1 << column
                graph[-1].append((0, target))
    if is_acyclic(moves, [2] * COLUMNS):
        assert not has_cycle(graph)
