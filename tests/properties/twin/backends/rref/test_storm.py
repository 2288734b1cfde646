"""RRefs in a storm: what no model takes is drawn, judged, shortened, saved and taken again."""

from __future__ import annotations

import msgspec
import pytest

from farref.model.rref.world import Bounds
from farref.properties.rref.protocol import RREF
from farref.properties.twin.backends.rref.storm import moves as mv
from farref.properties.twin.backends.rref.storm.backend import RRefStorm
from farref.properties.twin.backends.rref.storm.draw import Weather
from farref.properties.twin.backends.rref.storm.found import StormFound, decode_storm, encode_storm, take_again
from farref.properties.twin.backends.rref.storm.judge import ViolatedError
from farref.properties.twin.backends.rref.storm.run import StormRun
from farref.properties.twin.backends.rref.storm.situations import SITUATIONS
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import shrink
from farref.properties.zoo.catalogue import STORM_MUTANTS

SCHEDULES = 120


def test_nothing_is_wrong_and_every_situation_is_drawn() -> None:
    tally = campaign(RRefStorm, seed=1, schedules_max=SCHEDULES)
    assert tally.disagreement is None, tally.disagreement
    assert tally.never_fired == []
    assert set(tally.drawn) == set(SITUATIONS)


def test_the_same_seed_gives_the_same_run() -> None:
    hashes = [campaign(RRefStorm, seed=seed, schedules_max=5).trace_hash for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_what_is_not_allowed_does_not_happen() -> None:
    calm = {"drops": 0, "duplicates": 0, "failures": 0, "timeouts": 0, "fetches": 0, "self_shares": False}
    tally = campaign(RRefStorm, seed=1, schedules_max=20, fixed=calm)
    assert {fault for fault, number in tally.faults.items() if number} == {"reordered"}
    assert not tally.drawn["a share with oneself"]
    assert not {"a share with oneself", "a value that holds references is fetched"} & {*tally.never_fired}


def test_every_move_is_told() -> None:
    moves = [move for number in range(30) for move in _moves(number)]
    assert {type(move) for move in moves} == set(mv.Move.__args__)
    assert all("{" not in mv.told(move) for move in moves)


def _moves(number: int) -> list[mv.Move]:
    weather, found = Weather(RREF.draw(1, number, {})), list[mv.Move]()
    while (move := weather.draw()) is not None:
        weather.run.take(move)
        found.append(move)
    return found


# -- stories told by hand ----------------------------------------------------------------------------------------------


def test_a_message_with_the_same_rref_twice_makes_two_forks() -> None:
    run = StormRun(2)
    for move in (mv.CreateLocal(0, 0, ()), mv.Call(1, 0, 1, ("x0", "x0")), mv.Deliver("Call(c1)")):
        assert run.take(move)
    assert sorted(run.names.of["x0"]) == ["f1.0", "f1.1"]
    assert all(run.truth.has(fork) for fork in run.names.of["x0"])
    run.finish()


def test_a_value_holds_what_is_put_into_it_and_hands_it_on() -> None:
    run = StormRun(2)
    begin = (mv.CreateLocal(0, 0, ()), mv.CreateLocal(1, 0, ("x0",)), mv.Call(2, 0, 1, ("x1",)), mv.Deliver("Call(c2)"))
    fetched = (mv.Fetch(3, "f2.0"), mv.LetGo("x1"), mv.Deliver("FetchCall(q3)"), mv.Deliver("FetchReturn(q3)"))
    assert all(run.take(move) for move in (*begin, *fetched))
    assert run.truth.has("f3.0")
    assert run.names.made["f3.0"].rref == "x0"
    run.finish()
    assert run.truth.dropped == {"x0", "x1"}


def test_what_a_move_names_has_to_be_there() -> None:
    run = StormRun(2)
    absent = (mv.LetGo("x0"), mv.Deliver("Call(c1)"), mv.Retry("UserDelete(f1)"), mv.Abandon("q1"), mv.Notice(0, 1))
    assert not any(run.take(move) for move in (*absent, mv.Finish("x0", (), False), mv.Call(1, 0, 1, ("x9",))))
    assert run.moves == []


def test_a_late_message_of_an_earlier_life_does_nothing() -> None:
    run = StormRun(2)
    assert run.take(mv.CreateRemote(0, 0, 1, ()))
    assert run.take(mv.Restart(0))
    assert run.network.cores[run.names.created["x0"].creator].incarnation == 2
    assert run.take(mv.CreateRemote(1, 0, 1, ()))
    assert run.take(mv.Deliver("UserDelete(f0)"))
    assert run.take(mv.Deliver("Ack(UserDelete(f0))"))
    run.finish()


def test_what_the_dead_held_may_stay_and_nothing_else() -> None:
    run = StormRun(2)
    for move in (mv.CreateLocal(0, 0, ()), mv.Call(1, 0, 1, ("x0",)), mv.Deliver("Call(c1)"), mv.Die(1)):
        assert run.take(move)
    run.finish()
    assert [entry.rref for entry in run.network.observe()[run.names.created["x0"].owner].entries]
    run.truth.dead.clear()
    with pytest.raises(ViolatedError, match="Every fork the owner counts"):
        run.judge.at_the_end()


# -- what is found -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> StormFound:
    with STORM_MUTANTS["one_fork_of_a_failed_message_is_withdrawn"].alive():
        tally = campaign(RRefStorm, seed=1, schedules_max=SCHEDULES)
        assert tally.disagreement is not None
        shortest = shrink(tally.disagreement, RRefStorm(), seconds_max=60)
    assert isinstance(shortest, StormFound)
    return shortest


def test_what_is_found_is_short_and_told(found: StormFound) -> None:
    assert len(found.actions) <= 5
    assert len(found.story) == len(found.actions)
    assert "the storm backend is wrong" in str(found)
    assert found.lines
    assert take_again(found.bounds, found.moves) == (None, len(found.moves)), "the clean implementation does it right"


def test_what_is_found_is_saved(found: StormFound) -> None:
    saved = decode_storm(encode_storm(found))
    assert saved is not None
    assert (saved.moves, saved.bounds.workers) == (found.moves, found.bounds.workers)


def test_another_file_is_no_storm() -> None:
    assert decode_storm(b"{}") is None
    assert decode_storm(b'{"format": "farref-storm/2", "workers": 2, "moves": []}') is None
    assert decode_storm(msgspec.json.encode({"format": "farref-trace/1"})) is None


def test_the_bounds_of_a_saved_storm_are_its_workers() -> None:
    saved = decode_storm(b'{"format": "farref-storm/1", "workers": 3, "moves": []}')
    assert saved is not None
    assert saved.bounds == Bounds(workers=3)
