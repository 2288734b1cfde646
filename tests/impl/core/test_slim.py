"""Small tables behave as the dictionaries whose place they take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farref.impl.core.ids import FIRST_LIFE, ForkId, WorkerId
from farref.impl.core.slim import EMPTY_DICTIONARY, EMPTY_LIST, Forks
from farref.impl.simulated.network import Simulation

numbers = st.integers(0, 4)
moves = st.lists(st.tuples(st.sampled_from(["count", "pop", "delete"]), numbers, st.integers(0, 2)))


def fork(number: int) -> ForkId:
    return ForkId(WorkerId(1), FIRST_LIFE, number)


@given(moves)
def test_forks_are_a_dictionary(moves: list[tuple[str, int, int]]) -> None:
    forks, plain = Forks(), dict[ForkId, WorkerId]()
    for move, number, holder in moves:
        match move:
            case "count":
                plain[fork(number)] = WorkerId(holder)
                forks[fork(number)] = WorkerId(holder)
            case "pop":
                assert forks.pop(fork(number), None) == plain.pop(fork(number), None)
            case _ if fork(number) in plain:
                del plain[fork(number)]
                del forks[fork(number)]
        assert dict(forks.items()) == plain
        assert (bool(forks), len(forks)) == (bool(plain), len(plain))
        assert [forks.get(fork(n)) for n in range(5)] == [plain.get(fork(n)) for n in range(5)]


def test_what_all_share_stays_empty() -> None:
    """Fetches, children and waiting code come and go; whoever wrote to what all share would give everybody something."""
    a, b = WorkerId(0), WorkerId(1)
    simulation = Simulation(2)
    held = simulation.create_remote(a, b)
    simulation.fetch(a, held)
    simulation.share_as_argument(a, b, held)
    simulation.await_value(b, simulation.create_on_self(b))
    for _ in range(5):
        for flight in simulation.in_flight():
            simulation.deliver(flight.id)
    simulation.finish_function(b, held.rref)
    assert EMPTY_LIST == []
    assert EMPTY_DICTIONARY == {}


def test_what_all_share_refuses_to_be_written_to() -> None:
    with pytest.raises(TypeError, match="share"):
        EMPTY_LIST.append(1)
    with pytest.raises(TypeError, match="share"):
        EMPTY_DICTIONARY[1] = 2
