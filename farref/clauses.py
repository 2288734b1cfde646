"""The clauses of the spec, and who cites them. Citations are found by reading the sources, so they cannot be out of date."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from farref.model.rules import RULES, clause_of
from farref.model.world import Bounds
from farref.properties.rref import rref_properties

HEADING: Final = re.compile(r"^### (R\d+)\. (.+)$")
ANY_HEADING: Final = re.compile(r"^#{1,3} ")
MENTION: Final = re.compile(r"\bR(\d+)(?: to R(\d+))?\b")
TLA_OPERATOR: Final = re.compile(r"^(\w+)(?:\(.*?\))? ==")
TLA_DECLARATION: Final = re.compile(r"^ +(\w+) *,? *\\\* ")


class UnknownClauseError(Exception):
    """No clause has this id; the message says which there are."""


@dataclass(frozen=True)
class Clause:
    """One clause: its text, and everything that says it carries it out or checks it."""

    id: str
    title: str
    text: str
    properties: tuple[str, ...]
    rules: tuple[str, ...]
    model: tuple[str, ...]
    tla: tuple[str, ...]


def clause_list() -> list[Clause]:
    """List the clauses in the order of the spec."""
    return [_clause(name, title, text) for name, (title, text) in _texts().items()]


def find_clause(name: str) -> Clause:
    """Find a clause by its id, however it is spelled."""
    known = _texts()
    if name.upper() not in known:
        allowed = f"{next(iter(known))} to {list(known)[-1]}" if known else "none: spec/rref.md has no clauses"
        raise UnknownClauseError(f"no clause is called {name!r}; there are {allowed}")
    return _clause(name.upper(), *known[name.upper()])


def show_clause(page: Console, clause: Clause) -> None:
    """Print a clause with its cross-references."""
    text = f"### {clause.id}. {clause.title}\n\n{clause.text}"
    page.print(Markdown(text) if page.is_terminal else text, soft_wrap=not page.is_terminal)
    page.print()
    for name in ("properties", "rules", "model", "tla"):
        page.print(f"{name + ':':12}{', '.join(getattr(clause, name)) or 'none'}", soft_wrap=True)


@cache
def _texts() -> dict[str, tuple[str, str]]:
    """Cut the spec into clauses: title and text by id."""
    found: dict[str, tuple[str, list[str]]] = {}
    current: list[str] | None = None
    spec = _root() / "spec" / "rref.md"
    for line in spec.read_text().splitlines() if spec.is_file() else []:
        heading = HEADING.match(line)
        if heading:
            current = []
            found[heading[1]] = (heading[2], current)
        elif ANY_HEADING.match(line):
            current = None
        elif current is not None:
            current.append(line)
    return {name: (title, "\n".join(lines).strip()) for name, (title, lines) in found.items()}


def _clause(name: str, title: str, text: str) -> Clause:
    properties = rref_properties(Bounds(shutdown=True))
    return Clause(
        id=name,
        title=title,
        text=text,
        properties=tuple(one.id for one in properties if one.clause == name),
        rules=tuple(rule for rule in RULES if clause_of(rule) == name),
        model=tuple(where for where, cited in _python_citations() if name in cited),
        tla=tuple(where for where, cited in _tla_citations() if name in cited),
    )


def mentions(text: str) -> set[str]:
    """List the clauses a text mentions; "R4 to R7" mentions four."""
    ranges = ((int(first), int(last or first)) for first, last in MENTION.findall(text))
    return {f"R{number}" for first, last in ranges for number in range(first, last + 1)}


def _root() -> Traversable:
    return files("farref")


def _sources(folder: Traversable, ending: str) -> list[Traversable]:
    return sorted((one for one in folder.iterdir() if one.name.endswith(ending)), key=lambda one: one.name)


@cache
def _python_citations() -> list[tuple[str, set[str]]]:
    """List every function and class of the model with the clauses its docstring cites."""
    return [
        (f"model/{source.name}:{node.name}", mentions(ast.get_docstring(node) or ""))
        for source in _sources(_root() / "model", ".py")
        for node in ast.parse(source.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


@cache
def _tla_citations() -> list[tuple[str, set[str]]]:
    return [
        (f"{source.name}:{name}", cited)
        for source in _sources(_root() / "spec" / "tla", ".tla")
        for name, cited in _operators(source.read_text())
    ]


def _operators(text: str) -> Iterator[tuple[str, set[str]]]:
    """List operators with the clauses cited in the comment before them, and declarations with those beside them."""
    comment = ""
    for line in text.splitlines():
        operator, declaration = TLA_OPERATOR.match(line), TLA_DECLARATION.match(line)
        if operator:
            yield operator[1], mentions(comment) | mentions(line)
        elif declaration:
            yield declaration[1], mentions(line)
        comment = f"{comment} {line}" if line.startswith(r"\*") else ""
