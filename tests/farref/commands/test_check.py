"""`farref check`: verdicts, exit codes, and the one JSON object."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from farref.checking import tables
from farref.model.checker import reference
from farref.model.rref.actions import Action
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import RULES
from farref.model.rref.world import World

Farref = Callable[..., Result]

KEYS = {
    "subject", "profile", "engine", "bounds", "verdict", "distinct", "generated", "depth", "seconds", "cpu_seconds", "peak_mb",
    "properties", "coverage", "never_fired", "counterexample", "without", "claim", "symmetry", "collision_bound", "notes",
    "witnesses", "configurations",
}  # fmt: skip
SMALL = ("--workers", "2", "--forks", "2")


def ask(farref: Farref, *words: str) -> dict[str, Any]:
    result = farref("check", "rref", *words, "--format", "json", "--quiet")
    assert result.stderr == ""
    answer: dict[str, Any] = json.loads(result.stdout)
    assert set(answer) - {"bounds_are"} == KEYS
    assert result.exit_code == {"holds": 0, "violated": 1, "incomplete": 4}[answer["verdict"]]
    return answer


def test_sound_holds_in_one_configuration(farref: Farref) -> None:
    answer = ask(farref, *SMALL, "--drops", "1", "--duplicates", "1")
    assert answer["verdict"] == "holds"
    assert answer["counterexample"] is None
    assert answer["never_fired"] == []
    assert answer["bounds"]["workers"] == 2
    assert answer["bounds"]["duplicates"] == 1
    assert {one["verdict"] for one in answer["properties"]} == {"holds"}


def test_a_violation_is_told_step_by_step(farref: Farref) -> None:
    answer = ask(farref, "--profile", "torch", "--drops", "0", "--duplicates", "0")
    found = answer["counterexample"]
    assert answer["verdict"] == "violated"
    assert (found["property"], found["clause"]) == ("P2", "R21")
    assert [set(step) for step in found["steps"]] == [{"action", "worker", "text"}] * len(found["steps"])
    assert found["steps"][0]["worker"] == "A"


def test_a_violation_replays_from_what_it_prints(farref: Farref) -> None:
    answer = ask(farref, "--without", "retries_until_answered")
    again = shlex.split(answer["counterexample"]["replay"])
    assert again[:3] == ["farref", "check", "rref"]
    assert ask(farref, *again[3:])["counterexample"] == answer["counterexample"]


def test_each_violated_property_has_its_own_shortest_run(farref: Farref) -> None:
    lengths = {
        one["id"]: one["counterexample_steps"] for one in ask(farref, "--profile", "torch", *SMALL)["properties"]
    }
    assert lengths["P9"] == 2
    assert lengths["P8"] == 3
    assert lengths["G1"] is None


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_engines_answer_alike(farref: Farref, engine: str) -> None:
    answer = ask(farref, *SMALL, "--results", "--engine", engine)
    assert answer["engine"] == engine
    assert (answer["verdict"], answer["distinct"], answer["depth"]) == ("holds", 859, 17)


@pytest.mark.parametrize("claim", ["N1b", "F6"])
def test_claims_break_torch_and_not_us(farref: Farref, claim: str) -> None:
    assert ask(farref, "--claim", claim)["verdict"] == "holds"
    broken = ask(farref, "--claim", claim.lower(), "--profile", "torch")
    assert broken["counterexample"]["property"] == claim


def test_one_property_alone(farref: Farref) -> None:
    answer = ask(farref, *SMALL, "--claim", "P3")
    assert [one["id"] for one in answer["properties"]] == ["P3"]


def test_a_mutant_stops_at_the_first_violation_and_says_so(farref: Farref) -> None:
    answer = ask(farref, "--without", "registers_atomically")
    assert len(answer["configurations"]) == 1
    assert "not run" in answer["notes"][-1]


def test_a_budget_ends_undecided(farref: Farref) -> None:
    answer = ask(farref, "--workers", "3", "--states-max", "100")
    assert answer["verdict"] == "incomplete"
    assert any("limit 100" in note for note in answer["notes"])


def test_the_seconds_are_for_all_configurations_together(farref: Farref) -> None:
    answer = ask(farref, "--seconds-max", "0.001")
    assert answer["verdict"] == "incomplete"
    assert [run["name"] for run in answer["configurations"]] == ["one fork"]
    assert answer["notes"][-1].startswith("the seconds are used up; not run: 'two forks', ")


def test_a_violation_outweighs_a_budget(farref: Farref) -> None:
    assert ask(farref, "--profile", "torch", "--workers", "3", "--states-max", "2000")["verdict"] == "violated"


def test_walks_find_and_never_prove(farref: Farref) -> None:
    assert ask(farref, *SMALL, "--walk", "20")["verdict"] == "incomplete"
    one, other = (ask(farref, *SMALL, "--profile", "torch", "--walk", "50", "--seed", "7") for _ in range(2))
    assert one["verdict"] == "violated"
    assert one["counterexample"] == other["counterexample"]
    assert "--seed 7" in one["counterexample"]["replay"]


def test_symmetry_sees_fewer_states(farref: Farref) -> None:
    whole, reduced = ask(farref, "--forks", "2"), ask(farref, "--forks", "2", "--symmetry")
    assert reduced["verdict"] == whole["verdict"] == "holds"
    assert reduced["distinct"] < whole["distinct"]


def test_pretty_tells_the_story_and_how_to_see_it_again(farref: Farref) -> None:
    result = farref("check", "rref", "--profile", "torch", "--claim", "N1", "--quiet")
    assert result.exit_code == 1
    for wanted in ("N1 (clause R21) is violated", " 1 A asks B", "What this means", "--claim N1", "VIOLATED"):
        assert wanted in result.stdout


def test_pretty_names_what_is_violated_as_well(farref: Farref) -> None:
    words = ("--profile", "torch", "--workers", "2", "--forks", "1")
    lengths = {one["id"]: one["counterexample_steps"] for one in ask(farref, *words)["properties"]}
    first, *others = [f"{name} in {steps} steps" for name, steps in lengths.items() if steps is not None]
    page = " ".join(farref("check", "rref", *words, "--quiet").stdout.split())
    assert f"Violated as well: {', '.join(others)}. See one with --claim {others[0].split()[0]}." in page
    assert f"Violated as well: {first}" not in page


def test_pretty_is_short_when_all_is_well(farref: Farref) -> None:
    result = farref("check", "rref", *SMALL, "--quiet")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) <= 40
    assert "shown reachable" in result.stdout


def test_a_rule_that_is_not_missed_spoils_the_table(farref: Farref) -> None:
    """With one fork there are no children to wait for. The whole table is in spec/README.md, which a test makes anew."""
    result = farref("check", "rref", "--each", "rule", "--workers", "2", "--forks", "1", "--format", "json", "--quiet")
    table = json.loads(result.stdout)
    rows = {row["rule"]: row for row in table["rows"]}
    assert (result.exit_code, table["verdict"]) == (1, "violated")
    assert list(rows) == list(RULES)
    assert rows["parent_waits_for_children"]["verdict"] == "holds"
    assert rows["parent_waits_for_children"]["breaks"] is None
    assert rows["registers_atomically"]["verdict"] == "violated"


def test_a_table_of_searches_cut_short_claims_nothing(farref: Farref) -> None:
    result = farref("check", "rref", "--each", "claim", "--states-max", "20", "--quiet")
    assert result.exit_code == 4
    assert "? not decided: every claim is violated under TORCH and holds under SOUND" in result.stdout


def test_engines_are_compared(farref: Farref) -> None:
    result = farref("check", "rref", *SMALL, "--compare-engines", "--format", "json", "--quiet")
    rows = {row["engine"]: row for row in json.loads(result.stdout)["rows"]}
    assert result.exit_code == 0
    assert set(rows) == {"reference", "fast", "tlc"}
    assert rows["fast"]["distinct"] == rows["reference"]["distinct"]


class Astray(RRefModel):
    """The model with one step more, which leads back to where everything begins: to no new state."""

    def step(self, state: World, action: Action) -> World | None:
        after = super().step(state, action)
        return self.initial if after is None and action == self.actions[0] else after


def test_an_engine_that_takes_a_wrong_step_to_a_known_state_disagrees(
    farref: Farref, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "ENGINES_COMPARED", ("reference", "fast"))
    right = reference.check
    monkeypatch.setattr(reference, "check", lambda model, *rest, **named: right(Astray(model.bounds), *rest, **named))
    result = farref("check", "rref", *SMALL, "--compare-engines", "--format", "json", "--quiet")
    answer = json.loads(result.stdout)
    wrong, fast = ({name: row[name] for name in ("distinct", "depth", "verdict")} for row in answer["rows"])
    assert wrong == fast, "no count of states shows it"
    assert result.exit_code == 1
    assert answer["verdict"] == "violated"
    assert answer["expectation"].endswith("agree on verdict, shortest, distinct, generated, depth")


@pytest.mark.usefixtures("tlc_is_here")
def test_engines_that_reduce_by_symmetry_are_compared_where_something_breaks(farref: Farref) -> None:
    asked = ("--workers", "3", "--forks", "1", "--profile", "torch", "--symmetry", "--compare-engines")
    result = farref("check", "rref", *asked, "--format", "json", "--quiet")
    rows = json.loads(result.stdout)["rows"]
    assert {row["verdict"] for row in rows} == {"violated"}
    assert len({(row["distinct"], row["generated"]) for row in rows}) == 1
    assert result.exit_code == 0


def test_saving_nothing_is_said(farref: Farref, tmp_path: Any) -> None:
    result = farref("check", "rref", *SMALL, "--quiet", "--save", str(tmp_path / "none.json"))
    assert result.exit_code == 0
    assert "nothing was violated" in result.stderr
    assert not (tmp_path / "none.json").exists()


@pytest.mark.usefixtures("tlc_is_here")
def test_with_views_tlc_tells_what_is_broken_and_has_no_run_to_keep(farref: Farref, tmp_path: Any) -> None:
    asked = ("--workers", "2", "--forks", "1", "--exclusions", "1", "--no-self-shares", "--engine", "tlc")
    kept = str(tmp_path / "none.json")
    result = farref("check", "rref", *asked, "--without", "waits_until_settled", "--quiet", "--save", kept)
    assert result.exit_code == 1
    assert "TLC breaks Vcut in 1 step of its own" in result.stdout
    assert "TLC has no run of the model to keep" in result.stderr
