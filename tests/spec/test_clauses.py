"""The clauses of the spec, and everything that refers to them or is referred to by them: no name leads nowhere."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from farref.model import messages, network, owner, rules, user
from farref.model.checker.interface import Kind, Property
from farref.model.checker.reference import check
from farref.model.rref import RRefModel
from farref.model.world import Bounds, World
from farref.properties.claims import CLAIMS
from farref.properties.rref import rref_properties

ROOT: Final = Path(__file__).parents[2]
SPEC: Final = ROOT / "spec"
TLA: Final = sorted((SPEC / "tla").glob("*.tla"))
NONE: Final = "—"
LAST_LINE: Final = re.compile(r"Property: (.+) · Rule switch: (.+) · Model: (.+) · TLA\+: (.+)")
CITATION: Final = re.compile(r"\bR\d+\b")
SECTIONS: Final = [
    "Vocabulary",
    "Messages",
    "Tables",
    "Creation",
    "Sharing",
    "Use",
    "Deletion",
    "When things go wrong",
    "Guarantees",
]
COLUMNS: Final = 7
"""Of the tables of messages: message, direction, payload, effect, reply, whether sent again, and what a copy does."""


@dataclass(frozen=True)
class Clause:
    """One clause: its text, and the names on its last line."""

    id: str
    title: str
    text: str
    properties: tuple[str, ...]
    switches: tuple[str, ...]
    functions: tuple[str, ...]
    operators: tuple[str, ...]


def _names(cell: str) -> tuple[str, ...]:
    return () if cell == NONE else tuple(cell.split(", "))


def _read_clauses() -> dict[str, Clause]:
    pieces = re.split(r"^### (R\d+)\. (.+)$", (SPEC / "rref.md").read_text("utf-8"), flags=re.MULTILINE)
    clauses = {}
    for number, title, rest in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        text = re.split(r"^## ", rest, flags=re.MULTILINE)[0].strip()
        last = LAST_LINE.fullmatch(text.splitlines()[-1])
        lists = [_names(cell) for cell in last.groups()] if last else [("no last line",)] * 4
        assert number not in clauses, f"{number} is there twice"
        clauses[number] = Clause(number, title, text, *lists)
    return clauses


CLAUSES: Final = _read_clauses()
PROPERTIES: Final[tuple[Property, ...]] = rref_properties(Bounds(shutdown=True))


def _by_id(clause: Clause) -> str:
    return clause.id


each_clause = pytest.mark.parametrize("clause", CLAUSES.values(), ids=_by_id)


# -- the shape of a clause ---------------------------------------------------------------------------------------------


def test_clauses_are_numbered_without_gaps() -> None:
    assert list(CLAUSES) == [f"R{number}" for number in range(1, len(CLAUSES) + 1)]


def test_sections_are_the_nine() -> None:
    assert re.findall(r"^## (.+)$", (SPEC / "rref.md").read_text("utf-8"), flags=re.MULTILINE) == SECTIONS


@each_clause
def test_clause_has_rule_reason_and_last_line(clause: Clause) -> None:
    assert clause.text.startswith("**Rule.** "), "a clause begins with its rule"
    assert "\n**Why.** " in clause.text
    assert LAST_LINE.fullmatch(clause.text.splitlines()[-1]), clause.text.splitlines()[-1]


@each_clause
def test_diagrams_are_short_and_legible(clause: Clause) -> None:
    for diagram in re.findall(r"```\n(.*?)```", clause.text, flags=re.DOTALL):
        lines = diagram.splitlines()
        assert len(lines) <= 15
        assert all(len(line) <= 90 for line in lines)


# -- from the clauses to everything else -------------------------------------------------------------------------------


@each_clause
def test_clause_names_properties_that_exist(clause: Clause) -> None:
    assert set(clause.properties) <= {one.id for one in PROPERTIES}


@each_clause
def test_clause_names_rules_that_exist(clause: Clause) -> None:
    assert set(clause.switches) <= set(rules.RULES)


@each_clause
def test_clause_names_model_code_that_exists(clause: Clause) -> None:
    for name in clause.functions:
        module, _, attribute = name.partition(".")
        assert hasattr(importlib.import_module(f"farref.model.{module}"), attribute), name


def _operators() -> set[str]:
    definition = re.compile(r"^(\w+)(?:\([^)]*\))?\s*==", flags=re.MULTILINE)
    return {name for path in TLA for name in definition.findall(path.read_text("utf-8"))}


@pytest.mark.skipif(not TLA, reason="spec/tla/ has no TLA+ modules")
@each_clause
def test_clause_names_operators_that_exist(clause: Clause) -> None:
    assert set(clause.operators) <= _operators()


@each_clause
def test_clause_cites_clauses_that_exist(clause: Clause) -> None:
    assert set(CITATION.findall(clause.text)) <= CLAUSES.keys()


# -- from everything else to the clauses -------------------------------------------------------------------------------


@pytest.mark.parametrize("one", PROPERTIES, ids=lambda one: one.id)
def test_property_has_its_clause(one: Property) -> None:
    assert one.kind is not Kind.SOMETIMES
    assert one.id in CLAUSES[one.clause].properties, f"{one.clause} does not name {one.id}"


@pytest.mark.parametrize("rule", rules.RULES)
def test_rule_has_its_clause(rule: str) -> None:
    assert rule in CLAUSES[rules.clause_of(rule)].switches


@pytest.mark.skipif(not TLA, reason="spec/tla/ has no TLA+ modules")
@pytest.mark.parametrize("rule", rules.RULES)
def test_rule_is_a_constant_of_the_tla_module(rule: str) -> None:
    constant = "".join(word.capitalize() for word in rule.split("_"))
    clause = rules.clause_of(rule)
    declared = re.search(rf"^    {constant},?\s*\\\* (R\d+):", (SPEC / "tla/RRef.tla").read_text("utf-8"), re.MULTILINE)
    assert declared, f"{constant} is not declared with its clause"
    assert declared[1] == clause


CITING: Final = [*sorted((ROOT / "model").glob("*.py")), *sorted((ROOT / "properties").glob("*.py")), *TLA]


@pytest.mark.parametrize("path", [*CITING, SPEC / "differences.md", SPEC / "README.md"], ids=lambda path: path.name)
def test_cited_clauses_exist(path: Path) -> None:
    assert set(CITATION.findall(path.read_text("utf-8"))) <= CLAUSES.keys()


HANDLERS: Final = [
    (f"{module.__name__.rpartition('.')[2]}.{name}", inspect.getdoc(function) or "")
    for module in (owner, user, network)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
]


CITING_HANDLERS: Final = [name for name, doc in HANDLERS if CITATION.search(doc)]


@pytest.mark.parametrize(("name", "doc"), [pair for pair in HANDLERS if CITATION.search(pair[1])], ids=CITING_HANDLERS)
def test_handler_is_named_by_a_clause_it_cites(name: str, doc: str) -> None:
    cited = CITATION.findall(doc)
    assert any(name in CLAUSES[clause].functions for clause in cited), f"none of {cited} names {name}"


# -- tables ------------------------------------------------------------------------------------------------------------


def _rows(text: str) -> dict[str, list[str]]:
    """Read the rows of the tables in a text that begin with a name in backquotes."""
    rows = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            rows[cells[0].strip("`")] = [cell.strip("| ") for cell in cells[1:]]
    return rows


@pytest.mark.parametrize(
    ("clause", "kinds"), [("R4", messages.USER_CALLS), ("R5", (*messages.CONTROL, messages.Ack))], ids=["R4", "R5"]
)
def test_every_message_has_its_row(clause: str, kinds: tuple[type, ...]) -> None:
    rows = _rows(CLAUSES[clause].text)
    assert list(rows) == [kind.__name__ for kind in kinds]
    for name, cells in rows.items():
        assert len(cells) == COLUMNS - 1, name
        assert all(cells), f"an empty cell in the row of {name}"


@pytest.mark.parametrize(("clause", "record"), [("R8", owner.OwnerRRef), ("R9", user.UserRRef)], ids=["R8", "R9"])
def test_every_field_has_its_row(clause: str, record: type[owner.OwnerRRef | user.UserRRef]) -> None:
    assert list(_rows(CLAUSES[clause].text)) == list(record._fields)


@pytest.mark.parametrize(
    ("clause", "kind"), [("R8", owner.Entry), ("R9", user.User), ("R9", user.Handle), ("R9", user.Fetch)]
)
def test_every_phase_is_explained(clause: str, kind: type[owner.Entry | user.User | user.Handle | user.Fetch]) -> None:
    assert all(member.name in CLAUSES[clause].text for member in kind)


# -- the differences ---------------------------------------------------------------------------------------------------

DIFFERENCES: Final = (SPEC / "differences.md").read_text("utf-8")
HEADED: Final = re.split(
    r"^### (\w+)\. .+$", re.split(r"^## What PyTorch leaves", DIFFERENCES, flags=re.MULTILINE)[0], flags=re.MULTILINE
)
DEFECTS: Final = dict(zip(HEADED[1::2], HEADED[2::2], strict=True))
NOT_MODELLED: Final = {"N3", "N8", "N11", "N12", "N13", "N14"}
RUN: Final = re.compile(r"in `(workers=[^`]*)`(?:, breaks (\w+))?[^:]*:\n\n((?:\d+\. `.*\n(?:   .*\n)*)+)")


def test_every_rule_is_in_the_table_of_differences() -> None:
    rows = _rows(re.split(r"^## ", DIFFERENCES, flags=re.MULTILINE)[1])
    assert list(rows) == list(rules.RULES)
    for rule, cells in rows.items():
        assert cells[:2] == [rules.clause_of(rule), "on" if getattr(rules.TORCH, rule) else "off"], rule


def test_every_defect_is_a_claim_or_says_why_not() -> None:
    assert DEFECTS.keys() == CLAIMS.keys() | NOT_MODELLED
    assert all("Not modelled" in DEFECTS[name] for name in NOT_MODELLED)


def _bounds(text: str) -> Bounds:
    pairs = (pair.split("=") for pair in text.split(", "))
    values: dict[str, Any] = {
        name: value == "True" if value in ("True", "False") else int(value) for name, value in pairs
    }
    return Bounds(**values)


@dataclass(frozen=True)
class Written:
    """One run as it is written in the differences."""

    defect: str
    bounds: Bounds
    breaks: str  # the id of a property, empty for the claim itself
    labels: tuple[str, ...]


WRITTEN: Final = [
    Written(name, _bounds(bounds), breaks, tuple(re.findall(r"^\d+\. `(.+?)`", steps, flags=re.MULTILINE)))
    for name, text in DEFECTS.items()
    for bounds, breaks, steps in RUN.findall(text)
]


def _last_world(model: RRefModel, labels: tuple[str, ...]) -> World:
    actions = {str(action): action for action in model.actions}
    world = model.initial
    for label in labels:
        after = model.step(world, actions[label])
        assert after is not None, f"{label} cannot happen there"
        world = after
    return world


def test_no_run_is_overlooked() -> None:
    assert len(WRITTEN) == len(re.findall(r"^1\. `", DIFFERENCES, flags=re.MULTILINE))


def test_every_claim_is_written_with_a_run() -> None:
    assert {run.defect for run in WRITTEN if not run.breaks} == CLAIMS.keys()


@pytest.mark.parametrize("run", WRITTEN, ids=lambda run: f"{run.defect} {run.breaks}".strip())
def test_written_run_breaks_what_it_says(run: Written) -> None:
    claim = CLAIMS[run.defect]
    model = RRefModel(run.bounds, rules.TORCH)
    broken = {one.id: one for one in rref_properties(run.bounds)}[run.breaks] if run.breaks else claim.property
    world = _last_world(model, run.labels)
    if broken.kind is Kind.EVENTUALLY:
        assert all(model.step(world, action) is None for action in model.actions), "the run has not ended"
    assert not all(case.holds(world) for case in broken.cases)


@pytest.mark.parametrize("run", [run for run in WRITTEN if not run.breaks], ids=lambda run: run.defect)
def test_written_run_is_a_shortest_one(run: Written) -> None:
    claim = CLAIMS[run.defect]
    assert run.bounds == claim.bounds
    found = check(RRefModel(run.bounds, rules.TORCH), [claim.property]).counterexample
    assert found is not None
    assert len(run.labels) == len(found.actions)
