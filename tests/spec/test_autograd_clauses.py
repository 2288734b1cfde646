"""The clauses of distributed autograd, and everything that refers to them or is referred to by them: no name leads nowhere."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Final

import pytest

from farref.clauses import Clause, clauses
from farref.model.autograd import graphs, messages, release, root, task, worker
from farref.model.checker.interface import Kind, Property
from farref.properties.autograd.claims import CLAIMS
from farref.properties.autograd.protocol import AUTOGRAD
from farref.properties.protocol import Claim
from tests.markdown import rows
from tests.model.autograd.play import Play

ROOT: Final = Path(__file__).parents[2]
SPEC: Final = ROOT / "spec"
TEXT: Final = (SPEC / "autograd.md").read_text("utf-8")
TLA: Final = "\n".join(path.read_text("utf-8") for path in sorted((SPEC / "tla").glob("*Autograd*.tla")))
CITATION: Final = re.compile(r"\b[AR]\d+\b")
KNOWN: Final = clauses()
CLAUSES: Final = {name: clause for name, clause in KNOWN.items() if clause.subject == AUTOGRAD.name}
PROPERTIES: Final[tuple[Property, ...]] = AUTOGRAD.properties(AUTOGRAD.broadest)
OPERATORS: Final = set(re.findall(r"^(\w+)(?:\([^)]*\))? ==", TLA, re.MULTILINE))

each_clause = pytest.mark.parametrize("clause", CLAUSES.values(), ids=list(CLAUSES))


def test_clauses_are_numbered_without_gaps() -> None:
    assert list(CLAUSES) == [f"A{number}" for number in range(1, len(CLAUSES) + 1)]


@each_clause
def test_clause_has_rule_and_reason(clause: Clause) -> None:
    assert clause.text.startswith("**Rule.**"), "a clause begins with its rule"
    if clause.id not in ("A1", "A28"):
        assert "\n**Why.** " in clause.text


@each_clause
def test_clause_names_what_exists(clause: Clause) -> None:
    assert set(clause.properties) <= {one.id for one in PROPERTIES}
    assert set(clause.rules) <= set(AUTOGRAD.rules)
    assert set(CITATION.findall(clause.text)) <= KNOWN.keys()
    for name in clause.model:
        module, _, function = name.partition(".")
        assert hasattr(importlib.import_module(f"farref.model.autograd.{module}"), function), name


@each_clause
def test_clause_names_operators_that_exist(clause: Clause) -> None:
    assert set(clause.tla) <= OPERATORS


@each_clause
def test_diagrams_are_legible(clause: Clause) -> None:
    for diagram in re.findall(r"```\n(.*?)```", clause.text, flags=re.DOTALL):
        assert max(map(len, diagram.splitlines())) <= 110


@pytest.mark.parametrize("one", PROPERTIES, ids=lambda one: one.id)
def test_property_has_its_clause_and_its_row(one: Property) -> None:
    assert one.id in CLAUSES[one.clause].properties
    kind, sentence = rows(TEXT.split("\n## Properties\n")[1].split("\n## ")[0])[one.id]
    assert kind == one.kind.value
    assert one.text.lower().startswith(sentence.lower().split(",")[0])


@pytest.mark.parametrize("rule", AUTOGRAD.rules)
def test_rule_has_its_clause_and_its_row(rule: str) -> None:
    clause = AUTOGRAD.clause_of(rule)
    assert rule in CLAUSES[clause].rules
    assert rows(TEXT.split("\n## Where PyTorch differs\n")[1])[rule][0] == clause


@pytest.mark.parametrize("rule", AUTOGRAD.rules)
def test_rule_is_a_constant_of_the_tla_module(rule: str) -> None:
    clause = AUTOGRAD.clause_of(rule)
    constant = "".join(word.capitalize() for word in rule.split("_"))
    declared = re.search(rf"^    {constant},?\s*\\\* (A\d+):", TLA, re.MULTILINE)
    assert declared is not None
    assert declared[1] == clause


FILES: Final = [*sorted((ROOT / "model/autograd").glob("*.py")), *sorted((ROOT / "properties/autograd").glob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_cited_clauses_exist(path: Path) -> None:
    assert set(CITATION.findall(path.read_text("utf-8"))) <= KNOWN.keys()


HANDLERS: Final = {
    f"{module.__name__.rpartition('.')[2]}.{name}": inspect.getdoc(function) or ""
    for module in (task, root, release, worker)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and re.search(r"\bA\d+\b", inspect.getdoc(function) or "")
}


@pytest.mark.parametrize("name", HANDLERS)
def test_handler_is_named_by_a_clause_it_cites(name: str) -> None:
    cited = re.findall(r"\bA\d+\b", HANDLERS[name])
    assert any(name in CLAUSES[clause].model for clause in cited), f"none of {cited} names {name}"


@pytest.mark.parametrize(
    ("clause", "record"), [("A8", worker.Worker), ("A10", root.Pass), ("A11", worker.Task)], ids=["A8", "A10", "A11"]
)
def test_every_field_has_its_row(clause: str, record: type[worker.Worker | root.Pass | worker.Task]) -> None:
    assert list(rows(CLAUSES[clause].text)) == list(record._fields)


def test_every_message_has_its_row() -> None:
    listed = [name for clause in ("A4", "A5", "A6") for name in rows(CLAUSES[clause].text)]
    kinds = (
        messages.ForwardCall,
        *(messages.PropagateGradients, messages.Mark, messages.Seek, messages.Resume, messages.Report),
        *(messages.Commit, messages.Committed, messages.Abort),
        *(messages.CleanupContext, messages.Closed, messages.Settled, messages.Forget),
    )
    assert listed == [kind.__name__ for kind in kinds]


def test_every_fault_has_its_row() -> None:
    faults = [one.name for one in messages.Fault if one is not messages.Fault.NONE]
    assert list(rows(CLAUSES["A18"].text)) == faults


def test_every_graph_is_written_as_it_is() -> None:
    table = rows(TEXT.split("\n## Graphs\n")[1].split("\n## ")[0])
    assert list(table) == list(graphs.GRAPHS)
    for name, (pairs, flows, why) in table.items():
        read = graphs.read_graph(name, pairs.strip("`—"), flows.strip("`"))
        known = graphs.GRAPHS[name]
        assert (read.pairs, read.flows, read.workers) == (known.pairs, known.flows, known.workers)
        assert why


# -- defects -----------------------------------------------------------------------------------------------------------

DEFECT: Final = re.compile(
    r"^### (D\d+)\. .+?The\s+run,\s+in\s+`([^`]+)`:\n\n((?:\d+\. `[^`\n]+`\n)+)", re.MULTILINE | re.DOTALL
)
WRITTEN: Final = {
    name: (" ".join(bounds.split()), re.findall(r"`(.+)`", steps)) for name, bounds, steps in DEFECT.findall(TEXT)
}


def test_every_claim_is_written_with_a_run() -> None:
    assert WRITTEN.keys() == CLAIMS.keys()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_written_run_breaks_the_claim(claim: Claim) -> None:
    text, labels = WRITTEN[claim.id]
    bounds = dict(pair.split("=") for pair in text.split(", "))
    read = {
        name: value == "True" if value in ("True", "False") else int(value)
        for name, value in bounds.items()
        if name != "graph"
    }
    play = Play(bounds["graph"], AUTOGRAD.profiles["torch"], **read)
    assert play.model.bounds == claim.bounds
    play(*labels)
    if claim.property.kind is Kind.EVENTUALLY:
        assert play.enabled() == [], "the run has not ended"
    assert not all(case.holds(play.world) for case in claim.property.cases)
