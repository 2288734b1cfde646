"""`farref spec` and `farref doctor`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from farref.clauses import clauses
from farref.commands import doctor
from farref.commands.check import check
from farref.names import Sort, find_names, names
from farref.options.check import make_request
from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED

Farref = Callable[..., Result]
SPEC = Path(__file__).parents[3] / "spec"


def by_number(page: Path) -> list[str]:
    """List the headings of the clauses of a page by their numbers: the text may have another order."""
    found = re.findall(r"^### ([RAH]\d+\. .+)$", page.read_text(), re.MULTILINE)
    return sorted(found, key=lambda heading: int(heading[1:].partition(".")[0]))


def test_the_list_has_every_clause(farref: Farref) -> None:
    result = farref("spec")
    assert result.exit_code == 0
    headings = [heading for name in ("rref.md", "autograd.md", "threads.md") for heading in by_number(SPEC / name)]
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == [
        heading.replace(".", "", 1) for heading in headings
    ]


def test_a_clause_comes_with_what_cites_it(farref: Farref) -> None:
    result = farref("spec", "r21")
    assert result.exit_code == 0
    assert result.stdout.startswith("### R21. ")
    for cited in ("property P2", "--without entry_waits_for_creation", "owner._settle", "Settled", "J24"):
        assert cited in result.stdout


def test_a_clause_as_json(farref: Farref) -> None:
    [clause] = json.loads(farref("spec", "R7", "--format", "json").stdout)
    assert (clause["id"], clause["rules"]) == ("R7", ["processes_once"])


EXPLAINED = {
    "n1": ("No second entry is made", "R21. Early use", "farref check rref --profile torch --claim N1"),
    "N1b": ("without a third worker", "R21. Early use", "farref check rref --claim N1b"),
    "p2": ("uses the same entry", "R21. Early use", "farref check rref --claim P2"),
    "G1": ("Every fork that the owner counts lives", "R33. ", "farref check rref --claim G1"),
    "F1": ("counting never waits", "R10. ", "farref check rref --profile torch --claim F1"),
    "S1": ("every parameter has the gradient", "A13. ", "farref check autograd --claim S1"),
    "L6": ("A pass fails only if", "A12. ", "farref check autograd --claim L6"),
    "T1": ("FAST ends well if", "A15. ", "farref check autograd --claim T1"),
    "D5": ("gives its own gradient", "A12. ", "farref check autograd --profile torch --claim D5"),
    "ENTRY_waits_for_creation": ("is kept until", "R21. ", "farref check rref --without entry_waits_for_creation"),
    "sends_Call": ("A Call is sent.", "R4. ", "farref check rref"),
    "m3": ("A transport MUST deliver a user call at most once.", "R4. User calls", "spec/building/transport.md"),
    "Z10": ("If nobody listens at", "spec/wire.md"),
    "r33.LOCKSTEP": (
        "A check of the conformance kit (",
        "R33. ",
        "farref conform --backend simulated --only R33.lockstep",
    ),
    "n3": ("that the model cannot express", "spec/differences.md", "The error handler marks the wrong RRef"),
}


@pytest.mark.parametrize(("name", "told"), EXPLAINED.items())
def test_a_name_is_explained(farref: Farref, name: str, told: tuple[str, ...]) -> None:
    result = farref("spec", name)
    assert result.exit_code == 0
    assert result.stdout.split()[0].lower() == name.lower()
    for piece in told:
        assert piece in result.stdout


def test_a_rule_of_both_protocols_is_explained_twice(farref: Farref) -> None:
    rules = json.loads(farref("spec", "retries_until_answered", "--format", "json").stdout)
    assert [(rule["kind"], rule["subject"], rule["clause"]) for rule in rules] == [
        ("rule", "rref", "R6"),
        ("rule", "autograd", "A3"),
    ]


@pytest.mark.parametrize("about", CHECKED.values(), ids=list(CHECKED))
def test_whatever_the_output_names_is_explained(about: AnySubject) -> None:
    """Every command that is told can be given as it is told, and nothing stands for two things."""
    worlds = [world.bounds for world in about.portfolio]
    shown = [one.id for bounds in worlds for one in (*about.properties(bounds), *about.witnesses(bounds))]
    for name in dict.fromkeys([*shown, *about.every_claim, *about.rules]):
        [found] = [one for one in find_names(name) if one.subject == about.name]
        assert found.clause in clauses()
        assert found.must_hold.endswith(".")
        for command in found.commands:
            make_request(check.make_context("check", command.split()[2:]).params)


NUMBERED = re.compile(r"([A-Z])(\d+)")


def test_no_number_stands_for_two_things() -> None:
    """As spec/README.md promises. A rule or a situation may be one of several protocols."""
    numbered = [*clauses(), *(one.id for one in names() if NUMBERED.fullmatch(one.id))]
    assert [name for name, times in Counter(numbered).items() if times > 1] == []


def test_the_conventions_say_how_far_the_numbers_go() -> None:
    text = " ".join((SPEC / "README.md").read_text("utf-8").partition("\n## Conventions\n")[2].split())
    of_proofs = {one.id for one in names() if one.kind is Sort.PROOF}
    last: dict[str, int] = {}
    for name in [*clauses(), *(one.id for one in names() if one.id not in of_proofs)]:
        if found := NUMBERED.fullmatch(name):
            letter, number = found.groups()
            last[letter] = max(last.get(letter, 0), int(number))
    for letter, number in last.items():
        assert f"{letter}1 to {letter}{number}" in text or (number == 1 and f"{letter}1" in text) or letter == "F"
    for letter in {one[0] for one in of_proofs}:
        assert re.search(rf"`farref prove` shows: .*\b{letter}\b.*`make generated`", text)


def test_doctor_finds_what_tests_need(farref: Farref) -> None:
    result = farref("doctor", "--format", "json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["fit"]
    assert {"Python", "numpy", "Java", "TLC", "torch", "memory"} <= {one["name"] for one in answer["findings"]}
    assert "farref works here" in farref("doctor").stdout


def test_doctor_says_what_is_lost(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(doctor, "BASE", ("numpy", "no-such-package"))
    result = farref("doctor")
    assert result.exit_code == 3
    assert "--engine tlc does not run" in result.stdout
    assert "farref does not work here" in result.stdout


def test_doctor_names_the_jar_that_is_taken(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARREF_TLC_JAR", "no-such.jar")
    found = {one["name"]: one for one in json.loads(farref("doctor", "--format", "json").stdout)["findings"]}
    assert (found["TLC"]["ok"], found["TLC"]["found"]) == (False, "no-such.jar")
