"""The zoo as a command: what it prints, what it records, and that a creature which comes back to life is an error."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from farref.properties.protocols import PROTOCOLS
from farref.properties.zoo.catalogue import CATALOGUE, everybody
from farref.properties.zoo.mutants.guards import GRADIENTS, REFERENCES
from farref.properties.zoo.off import RuleOff
from farref.properties.zoo.survivors import ARGUMENTS
from farref.terminal.exits import BROKEN, OK, USAGE
from farref.zookeeping import examples, record
from farref.zookeeping.driven import SCHEDULES
from farref.zookeeping.engines import ENGINES
from farref.zookeeping.keeper import judge
from farref.zookeeping.modelled import world_of
from farref.zookeeping.outcome import Engine, Outcome, killed, survived
from farref.zookeeping.record import Evidence, Judged
from tests.generated import farref

pytestmark = pytest.mark.long

CHEAP = ("proof", "check", "simulated", "storm", "kit")
"""The engines that a build can afford to ask again."""
EACH = 32
MADE = {*REFERENCES, *GRADIENTS}
"""What the names of guards begin with. A guard is numbered, and another may have its number after a change of the source."""
KILLED = [
    pytest.param(name, engine, id=f"{name} {engine}")
    for name, judged in record.read().zoo.items()
    for engine in CHEAP
    if name.split(".")[0] not in MADE and name in everybody()
    if engine in judged and judged[engine].outcome.killed and judged[engine].outcome.seconds < 10
]


@pytest.mark.parametrize(("name", "engine"), KILLED[::EACH])
def test_what_was_killed_once_is_killed_still(name: str, engine: str) -> None:
    """A sample of the record; `farref zoo` goes through all of it."""
    outcome = judge(ENGINES[engine], everybody()[name])
    assert outcome.killed, f"{name} was killed by {engine} and survives now"


def test_everybody_that_somebody_wrote_was_judged() -> None:
    """Those that are made come and go with the source; `farref zoo --unasked` asks about the new ones."""
    known = record.read()
    assert [name for name in CATALOGUE if name not in known.zoo] == []
    assert [name for name in known.zoo if name not in everybody() and name.split(".")[0] not in MADE] == []


def test_an_argument_is_about_a_survivor() -> None:
    known = record.read()
    assert [name for name in ARGUMENTS if known.killers(name)] == []


def test_the_record_says_where_and_when() -> None:
    known = record.read()
    assert all(one.commit and one.machine and one.date and "dirty" not in one.commit for one in known.stamps)
    assert all(0 <= one.stamp < len(known.stamps) for judged in known.zoo.values() for one in judged.values())


def test_it_lists_one_creature_with_its_story() -> None:
    said = farref("zoo", "--list", "--mutant", "fetch_does_not_pin", exit_code=OK)
    assert "(R20, the clause)" in said
    assert "simulated: killed after" in said
    assert "1 creature: 1 killed" in said


def test_it_says_what_killed_it(tmp_path: Path) -> None:
    place = tmp_path / "zoo.json"
    arguments = ("zoo", "--mutant", "owner._settle.4", "--engine", "simulated", "--quiet", "--record", str(place))
    said = json.loads(farref(*arguments, "--format", "json", exit_code=OK))
    [row] = said["outcomes"]
    assert (row["creature"], row["engine"], row["killed"], row["unit"]) == (
        "owner._settle.4",
        "simulated",
        True,
        "schedules",
    )
    assert row["story"]
    assert record.read(place).killers("owner._settle.4")


def test_a_creature_that_comes_back_to_life_is_an_error(tmp_path: Path) -> None:
    """This guard only spares the channel a look: the record of the test says wrongly that something killed it."""
    place, name = tmp_path / "zoo.json", "core._confirm.2"
    wrong = Evidence(stamps=[record.here()], zoo={name: {"simulated": Judged(outcome=killed("nothing", 1), stamp=0)}})
    record.write(wrong, place)
    arguments = ("zoo", "--mutant", name, "--engine", "simulated", "--quiet", "--record", str(place))
    farref(*arguments, exit_code=BROKEN)
    assert record.read(place).killers(name), "the record is not overwritten by what is an error"


def test_what_is_of_an_unknown_commit_is_asked_again_and_its_stamp_goes(tmp_path: Path) -> None:
    place, name = tmp_path / "zoo.json", "core._confirm.2"
    commits = ("0e1d8fc (as it was before a rebase)", record.here().commit.removesuffix("-dirty"))
    stamps = [msgspec.structs.replace(record.here(), commit=one) for one in commits]
    old, new = (Judged(outcome=survived(1), stamp=number) for number in range(2))
    record.write(Evidence(stamps=stamps, zoo={name: {"simulated": old}, "user._release.2": {"tests": new}}), place)
    assert record.read(place).stale() == {(name, "simulated")}
    farref("zoo", "--stale", "--quiet", "--record", str(place), exit_code=OK)
    known = record.read(place)
    assert known.outcome(name, "simulated") == msgspec.structs.replace(
        survived(SCHEDULES), seconds=seconds_of(known, name)
    )
    assert commits[0] not in [one.commit for one in known.stamps]


def seconds_of(known: Evidence, name: str) -> float:
    return known.zoo[name]["simulated"].outcome.seconds


def test_nobody_has_such_a_name() -> None:
    farref("zoo", "--mutant", "nobody", exit_code=USAGE)


def test_a_creature_that_never_ends_is_killed_by_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farref.zookeeping.keeper.CPU_S", 1)

    def hang(_: object) -> Outcome:
        while True:
            pass

    outcome = judge(Engine("hang", "", "", lambda _: True, hang), everybody()["fetch_does_not_pin"])
    assert outcome.killed
    assert "processor time" in outcome.by


def test_a_creature_that_raises_is_killed_and_one_that_does_nothing_survives() -> None:
    one = everybody()["fetch_does_not_pin"]

    def fail(_: object) -> Outcome:
        raise RuntimeError("no")

    assert judge(Engine("fail", "", "", lambda _: True, fail), one).by == "RuntimeError: no"
    assert not judge(Engine("idle", "", "", lambda _: True, lambda _: survived(3)), one).killed


def test_hypothesis_finds_a_rule_that_is_off_and_none_that_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    creature = everybody()["rref.without.owner_registers_shares"]
    assert isinstance(creature, RuleOff)
    assert examples.hypothesis(creature).killed
    world = world_of(creature)
    monkeypatch.setattr(examples, "world_of", lambda _: world)
    monkeypatch.setattr(examples, "EXAMPLES_OF_RULES", 20)
    monkeypatch.setattr(type(PROTOCOLS["rref"]), "rules_of", lambda self, *_: self.profiles["sound"])
    assert not examples.hypothesis(creature).killed


def test_every_engine_takes_somebody_and_everybody_is_taken() -> None:
    taken = {name: [one.name for one in everybody().values() if engine.takes(one)] for name, engine in ENGINES.items()}
    assert all(taken.values())
    assert set().union(*taken.values()) == set(everybody())
