"""The clauses of the spec, and everything that refers to them or is referred to by them: no name leads nowhere."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Final

import pytest

from farref.clauses import Clause, clauses
from farref.model.checker.interface import Kind, Property
from farref.model.rref import messages, network, owner, rules, user
from farref.model.rref.addressing import Role, roles
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.world import Bounds
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.rref.always import rref_properties
from tests.markdown import rows

ROOT: Final = Path(__file__).parents[2]
SPEC: Final = ROOT / "spec"
TLA: Final = sorted((SPEC / "tla").glob("*.tla"))
CITATION: Final = re.compile(r"\bR\d+\b")
SECTIONS: Final = [
    "Vocabulary",
    "Messages",
    "Tables",
    "Creation",
    "Sharing",
    "Use",
    "Deletion",
    "Guarantees",
    "When things go wrong",
    "Deaths",
    "Members",
]
COLUMNS: Final = 7
"""Of the tables of messages: message, direction, payload, effect, reply, whether sent again, and what a copy does."""

CLAUSES: Final = {name: clause for name, clause in clauses().items() if clause.subject == "rref"}
PROPERTIES: Final[tuple[Property, ...]] = rref_properties(Bounds(exclusions=1, shutdown=True))


def _by_id(clause: Clause) -> str:
    return clause.id


each_clause = pytest.mark.parametrize("clause", CLAUSES.values(), ids=_by_id)


# -- the shape of a clause ---------------------------------------------------------------------------------------------


def test_clauses_are_numbered_without_gaps() -> None:
    numbers = re.findall(r"^### (.+?)\.", (SPEC / "rref.md").read_text("utf-8"), flags=re.MULTILINE)
    assert sorted(numbers) == sorted(CLAUSES)
    assert list(CLAUSES) == [f"R{number}" for number in range(1, len(CLAUSES) + 1)]


def test_why_it_suffices_stands_before_what_goes_wrong() -> None:
    text = (SPEC / "rref.md").read_text("utf-8")
    places = [text.index(f"### {clause}. ") for clause in ("R24", "R25", "R26", "R33", "R27", "R28", "R34")]
    assert places == sorted(places)


def test_sections_are_these() -> None:
    assert re.findall(r"^## (.+)$", (SPEC / "rref.md").read_text("utf-8"), flags=re.MULTILINE) == SECTIONS


@each_clause
def test_clause_has_rule_and_reason(clause: Clause) -> None:
    assert clause.text.startswith("**Rule.** "), "a clause begins with its rule"
    assert "\n**Why.** " in clause.text


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
    assert set(clause.rules) <= set(rules.RULES)


@each_clause
def test_clause_names_model_code_that_exists(clause: Clause) -> None:
    for name in clause.model:
        module, _, attribute = name.partition(".")
        assert hasattr(importlib.import_module(f"farref.model.rref.{module}"), attribute), name


def _operators() -> set[str]:
    definition = re.compile(r"^(\w+)(?:\([^)]*\))?\s*==", flags=re.MULTILINE)
    return {name for path in TLA for name in definition.findall(path.read_text("utf-8"))}


@pytest.mark.skipif(not TLA, reason="spec/tla/ has no TLA+ modules")
@each_clause
def test_clause_names_operators_that_exist(clause: Clause) -> None:
    assert set(clause.tla) <= _operators()


def test_every_clause_of_the_proof_is_named_by_the_clauses_it_serves() -> None:
    served = {
        (name, one.id)
        for subject in SUBJECTS.values()
        for theorem in subject.theorems
        for one in theorem.invariant
        for name in one.serves.split(", ")
        if name in clauses()
    }
    assert served == {(clause.id, one) for clause in clauses().values() for one in clause.proof}


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
    assert rule in CLAUSES[rules.SOUND.clause_of(rule)].rules


@pytest.mark.skipif(not TLA, reason="spec/tla/ has no TLA+ modules")
@pytest.mark.parametrize("rule", [rule for rule in rules.RULES if rule not in rules.OF_MEMBERS])
def test_rule_is_a_constant_of_the_tla_module(rule: str) -> None:
    constant = "".join(word.capitalize() for word in rule.split("_"))
    clause = rules.SOUND.clause_of(rule)
    declared = re.search(rf"^    {constant},?\s*\\\* (R\d+):", (SPEC / "tla/RRef.tla").read_text("utf-8"), re.MULTILINE)
    assert declared, f"{constant} is not declared with its clause"
    assert declared[1] == clause


OF_VIEWS: Final = SPEC / "tla" / "RRefViews.tla"


@pytest.mark.skipif(not OF_VIEWS.exists(), reason="spec/tla/ has no module of views")
@pytest.mark.parametrize("rule", rules.OF_VIEWS)
def test_rule_about_views_is_a_rule_of_their_tla_module(rule: str) -> None:
    first, *rest = rule.split("_")
    name = first + "".join(word.capitalize() for word in rest)
    declared = re.search(rf'^    "{name}"[,}}]*\s*\\\* (R\d+):', OF_VIEWS.read_text("utf-8"), re.MULTILINE)
    assert declared, f"{name} is not declared with its clause"
    assert declared[1] == rules.SOUND.clause_of(rule)


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
    assert any(name in CLAUSES[clause].model for clause in cited), f"none of {cited} names {name}"


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clause", "kinds"), [("R4", messages.USER_CALLS), ("R5", (*messages.CONTROL, messages.Ack))], ids=["R4", "R5"]
)
def test_every_message_has_its_row(clause: str, kinds: tuple[type, ...]) -> None:
    table = rows(CLAUSES[clause].text)
    assert list(table) == [kind.__name__ for kind in kinds]
    for name, cells in table.items():
        assert len(cells) == COLUMNS - 1, name
        assert all(cells), f"an empty cell in the row of {name}"


WORDS: Final = {
    "owner": Role.OWNER,
    "creator": Role.HOLDER,
    "user": Role.HOLDER,
    "holder": Role.HOLDER,
    "child": Role.HOLDER,
    "parent": Role.SHARER,
    "transport": Role.NETWORK,
}
"""What the clauses call a role."""


@pytest.mark.parametrize("kind", [*messages.USER_CALLS, *messages.CONTROL], ids=lambda kind: kind.__name__)
def test_the_clause_and_the_model_send_a_message_from_and_to_the_same(
    kind: type[messages.UserCall | messages.Control],
) -> None:
    cells = {**rows(CLAUSES["R4"].text), **rows(CLAUSES["R5"].text)}[kind.__name__]
    source, target = (WORDS[end.split()[0].rstrip(",").removesuffix("'s")] for end in cells[0].split(" → "))
    assert (source, target) == roles(kind(RRefId(0), ForkId(0)))


@pytest.mark.parametrize(("clause", "record"), [("R8", owner.OwnerRRef), ("R9", user.UserRRef)], ids=["R8", "R9"])
def test_every_field_has_its_row(clause: str, record: type[owner.OwnerRRef | user.UserRRef]) -> None:
    assert list(rows(CLAUSES[clause].text)) == list(record._fields)


@pytest.mark.parametrize(
    ("clause", "kind"), [("R8", owner.Entry), ("R9", user.User), ("R9", user.Handle), ("R9", user.Fetch)]
)
def test_every_phase_is_explained(clause: str, kind: type[owner.Entry | user.User | user.Handle | user.Fetch]) -> None:
    assert all(member.name in CLAUSES[clause].text for member in kind)
