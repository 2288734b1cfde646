"""What a page is told: nodes, the moves between them, the part around a run, and what is found by a search."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from farref.exploring.guide import Guide, Place
from farref.exploring.page import document_in, whole_page
from farref.exploring.part import NOWHERE, part_around
from farref.exploring.search import turning
from farref.exploring.shape import Document, Node, Table
from farref.model.checker.interface import Kind
from farref.model.rref.rules import SOUND
from farref.model.rref.world import Bounds
from farref.properties.protocols import PROTOCOLS
from farref.properties.traces.file import Trace

R21 = "entry_waits_for_creation"


def moves_of(trace: Trace) -> tuple[str, ...]:
    return tuple(step.action for step in trace.steps)


def lines(tables: tuple[Table, ...], title: str) -> list[tuple[str, ...]]:
    return [row.cells for table in tables if table.title == title for row in table.rows]


def test_a_walk_tells_the_story_of_the_trace(guide: Guide, n1: Trace) -> None:
    walked = guide.walk(moves_of(n1))
    assert walked.stopped == ""
    assert len(walked.nodes) == len(n1.steps) + 1
    for node, step, after in zip(walked.nodes, n1.steps, walked.nodes[1:], strict=False):
        [turn] = [one for one in node.turns if one.label == step.action]
        assert (turn.text, turn.worker, turn.to) == (step.text, step.worker, after.id)
        assert turn.fate == (step.fate.value if step.fate else None)


def test_what_is_broken_names_the_conjunct_and_for_whom(guide: Guide, n1: Trace) -> None:
    *_, before, last = guide.walk(moves_of(n1)).nodes
    assert "N1" not in before.broken
    assert last.broken["N1"] == ("no_second_entry_gets_the_value: RRef x0",)
    assert last.broken["P2"] == ("one_entry_for_each_rref: RRef x0",)


def test_statuses_are_those_of_the_properties(guide: Guide, n1: Trace) -> None:
    for place, node in zip(guide.path(moves_of(n1)), guide.walk(moves_of(n1)).nodes, strict=True):
        for one in guide.properties:
            held = [case.holds(place.world) for case in one.cases]
            if one.kind is Kind.SOMETIMES:
                assert (one.id in node.reached) == any(held)
            else:
                assert len(node.broken.get(one.id, ())) == held.count(False)


def test_every_turn_and_no_other_is_offered(guide: Guide, n1: Trace) -> None:
    for place in guide.path(moves_of(n1)):
        model = guide.about.model(guide.bounds, place.rules)
        enabled = {str(one) for one in model.actions if model.step(place.world, one) is not None}
        assert {turn.label for turn in guide.node(place).turns} == enabled


def test_tables_show_what_a_worker_knows(guide: Guide, n1: Trace) -> None:
    last = guide.walk(moves_of(n1)).nodes[-1]
    workers = {worker.name: worker.tables for worker in last.workers}
    assert lines(workers["A"], "Forks that it holds") == [("f0", "x0", "pending", "held", "f1 on B, f2 on C")]
    assert ("it has made a second entry of x0",) in lines(workers["B"], "What its tables do not show")


def test_views_and_broken_links_are_shown() -> None:
    cut = Guide(Bounds(2, forks=1, cuts=1), SOUND).walk(("Cut(B, A)",)).nodes[-1]
    assert lines(cut.workers[0].tables, "Members") == [("link is broken to", "B")]
    severing = SOUND.without("only_views_declare_dead")
    dead = Guide(Bounds(2, forks=1, cuts=1), severing).walk(("Cut(B, A)",)).nodes[-1]
    assert lines(dead.workers[0].tables, "Members") == [("takes for dead", "B")]
    assert ("cuts", "0") in lines(cut.whole, "What may still happen, so many times")
    guide = Guide(Bounds(3, forks=1, exclusions=1), SOUND)
    place = guide.first
    for kind in ("Exclude", "Install"):
        place = next(after for action, after in guide.turns(place) if str(action).startswith(kind))
    node = guide.node(place)
    assert ("newest", "1") in lines(node.whole, "Views")
    told = [line for worker in node.workers for line in lines(worker.tables, "Members")]
    assert {("excluded in view", "1"), ("has installed view", "1")} <= set(told)


def test_two_branches_do_not_share_what_was_seen(guide: Guide) -> None:
    """The same record of a fork on two workers: who holds it is told by the branch, not by what was seen before."""
    for target in ("B", "C"):
        node = guide.walk(("CreateRemote(x0, A)", f"UserShare(f0, {target}, Call)")).nodes[-1]
        [a] = [worker.tables for worker in node.workers if worker.name == "A"]
        assert lines(a, "Forks that it holds")[0][-1] == f"f1 on {target}"


def test_a_rule_is_switched_from_there_on(guide: Guide, n1: Trace) -> None:
    moves = moves_of(n1)
    walked = guide.walk((f"~{R21}", *moves))
    assert R21 in guide.node(guide.first).off
    assert R21 not in walked.nodes[1].off
    assert guide.node(guide.first).switches[R21] == walked.nodes[1].id
    assert "cannot happen there" in walked.stopped or "N1" not in walked.nodes[-1].broken
    assert [turn.label for turn in walked.nodes[1].turns] == [turn.label for turn in walked.nodes[0].turns]


def test_a_move_that_cannot_be_taken_ends_the_walk(guide: Guide) -> None:
    walked = guide.walk(("CreateRemote(x0, A)", "LetGo(f2)", "LetGo(f0)"))
    assert len(walked.nodes) == 2
    assert walked.stopped == "step 2, LetGo(f2), cannot happen there"
    assert guide.walk(("~no_such_rule",)).stopped == "step 1, ~no_such_rule, cannot happen there"
    assert guide.walk(("no such action",)).stopped == "step 1, no such action, cannot happen there"


def test_ids_are_the_same_for_the_same_place_and_for_no_other(guide: Guide) -> None:
    assert Place(guide.first.world, guide.rules).id == guide.first.id
    assert Place(guide.first.world, SOUND).id != guide.first.id
    one, two = guide.walk(("CreateRemote(x0, A)", "UserShare(f0, B, Call)", "UserShare(f0, C, Call)")).nodes[2:]
    assert one.id != two.id


def test_the_key_of_a_world_depends_on_bounds_and_rules() -> None:
    keys = {Guide(bounds, rules).key for bounds in (Bounds(2), Bounds(3)) for rules in (SOUND, SOUND.without(R21))}
    assert len(keys) == 4


def test_a_search_finds_the_shortest_way(guide: Guide) -> None:
    found = turning(guide, (), "N1")
    assert found.moves is not None
    assert len(found.moves) == 12
    assert "N1" in guide.walk(found.moves).nodes[-1].broken


def test_a_search_goes_to_a_witness_and_back(guide: Guide) -> None:
    found = turning(guide, (), "early_use_waits")
    assert found.moves is not None
    assert "early_use_waits" in guide.walk(found.moves).nodes[-1].reached
    again = turning(guide, found.moves, "early_use_waits")
    assert again.moves is not None
    assert "early_use_waits" not in guide.walk((*found.moves, *again.moves)).nodes[-1].reached


def test_a_search_that_finds_nothing_says_how_far_it_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Guide(Bounds(2, forks=1), SOUND)
    assert turning(small, (), "P2").moves is None
    assert "in none of the" in turning(small, (), "P2").said
    assert turning(small, (), "nothing").moves is None
    monkeypatch.setattr("farref.exploring.search.STATES_MAX", 3)
    assert "cut short" in turning(small, (), "P2").said


def test_the_part_has_the_run_its_neighbours_and_the_switches_on_it(guide: Guide, n1: Trace, part: Document) -> None:
    nodes = part.nodes
    node = nodes["0"]
    for move, expected in zip((*moves_of(n1), ""), guide.walk(moves_of(n1)).nodes, strict=True):
        assert (node.workers, node.broken, node.off) == (expected.workers, expected.broken, expected.off)
        assert all(turn.to in nodes for turn in node.turns)
        assert all(to in nodes for to in node.switches.values())
        node = nodes[next((turn.to for turn in node.turns if turn.label == move), node.id)]
    assert any(turn.to == NOWHERE for one in nodes.values() for turn in one.turns)
    assert len(part_around(guide, moves_of(n1), 5)) == 5


def test_a_document_survives_the_page_and_its_json(part: Document, n1: Trace) -> None:
    assert document_in(whole_page(part)) == part
    assert msgspec.json.decode(msgspec.json.encode(part), type=Document) == part
    assert part.run == moves_of(n1)
    assert part.first in part.nodes


def test_a_gradient_program_shows_what_has_flowed() -> None:
    about = PROTOCOLS["autograd"]
    claim = about.claims["D5"]
    guide = Guide(claim.bounds, about.rules_of("sound", None))
    states = [edge.state for edge in guide.node(guide.first).edges]
    assert states == ["recorded", "recorded"]
    seen: set[str] = set()
    staged: set[str] = set()
    place, steps = guide.first, 0
    while steps < 6:
        turns = list(guide.turns(place))
        wanted = [after for action, after in turns if "Backward" in str(action) or "Deliver(Propagate" in str(action)]
        if not wanted:
            break
        place, steps = wanted[0], steps + 1
        seen |= {edge.state for edge in guide.node(place).edges}
        staged |= {leaf.staged for leaf in guide.node(place).leaves}
    assert {"under way", "arrived"} <= seen
    assert staged, "a gradient is kept aside until the pass commits"


@pytest.mark.parametrize("subject", PROTOCOLS)
def test_every_world_of_the_portfolio_can_be_entered(subject: str) -> None:
    about = PROTOCOLS[subject]
    for configuration in about.portfolio:
        guide = Guide(configuration.bounds, about.sound)
        node: Node = guide.node(guide.first)
        assert node.turns
        assert guide.node(next(after for _, after in guide.turns(guide.first))).id == node.turns[0].to


def test_bounds_that_are_equal_are_one_world() -> None:
    assert Guide(Bounds(2), SOUND).key == Guide(replace(Bounds(3), workers=2), SOUND).key
