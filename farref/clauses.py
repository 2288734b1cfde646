"""The clauses of the spec, as `farref spec` shows them. The last line of each names what checks it and what carries it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from farref.model.rules import text_of
from farref.model.world import Bounds
from farref.properties.rref import rref_properties

HEADING: Final = re.compile(r"^### (R\d+)\. (.+)$", re.MULTILINE)
LAST_LINE: Final = re.compile(r"Property: (.+) · Rule switch: (.+) · Model: (.+) · TLA\+: (.+)")
NONE: Final = "—"
DEFECT: Final = re.compile(r"^### (N\w+)\. ", re.MULTILINE)


class UnknownClauseError(Exception):
    """No clause has this id; the message says which there are."""


@dataclass(frozen=True)
class Clause:
    """One clause: its text, and what its last line names."""

    id: str
    title: str
    text: str
    properties: tuple[str, ...]
    rules: tuple[str, ...]
    model: tuple[str, ...]
    tla: tuple[str, ...]


@cache
def clauses() -> dict[str, Clause]:
    """Cut the spec into its clauses, by id and in order."""
    _, *pieces = HEADING.split(_read("rref.md"))
    cut = zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    return {name: _clause(name, title, rest.split("\n## ")[0].strip()) for name, title, rest in cut}


def defects() -> list[str]:
    """List the known defects, those the model can express and those it cannot."""
    return DEFECT.findall(_read("differences.md"))


def _read(name: str) -> str:
    return (files("farref") / "spec" / name).read_text("utf-8")


def _clause(name: str, title: str, text: str) -> Clause:
    body, _, last = text.rpartition("\n")
    named = LAST_LINE.fullmatch(last)
    if named is None:
        raise ValueError(
            f"the last line of {name} in spec/rref.md is not 'Property: … · Rule switch: … · Model: … · TLA+: …'"
        )
    properties, rules, model, tla = (() if cell == NONE else tuple(cell.split(", ")) for cell in named.groups())
    return Clause(name, title, body.strip(), properties, rules, model, tla)


def find_clause(name: str) -> Clause:
    """Find a clause by its id, however it is spelled."""
    known = clauses()
    if name.upper() not in known:
        raise UnknownClauseError(f"no clause is called {name!r}; there are {next(iter(known))} to {list(known)[-1]}")
    return known[name.upper()]


def show_clause(page: Console, clause: Clause) -> None:
    """Print a clause with its cross-references, and what the properties and rules among them say."""
    text = f"### {clause.id}. {clause.title}\n\n{clause.text}"
    page.print(Markdown(text) if page.is_terminal else text, soft_wrap=not page.is_terminal, markup=False)
    page.print()
    for heading, said in _references(clause):
        page.print(f"{heading:14}{said}", soft_wrap=True, markup=False, highlight=False)


def _references(clause: Clause) -> list[tuple[str, str]]:
    sentences = {one.id: one.text for one in rref_properties(Bounds(shutdown=True))}
    return [
        *((f"property {name}", sentences[name]) for name in clause.properties),
        *(("rule", f"{name}: {text_of(name)} (farref check rref --without {name})") for name in clause.rules),
        ("model", ", ".join(clause.model) or "none"),
        ("TLA+", ", ".join(clause.tla) or "none"),
    ]
