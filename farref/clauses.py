"""The clauses of the spec. The last line of each names what checks it and what carries it out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED

HEADING: Final = re.compile(r"^### ([RAH]\d+)\. (.+)$", re.MULTILINE)
LAST_LINE: Final = re.compile(r"Property: (.+) · Rule switch: (.+) · Model: (.+) · TLA\+: (.+) · Proof: (.+)")
FOLDED: Final = re.compile(r"^<details>\n.*?^</details>\n", re.MULTILINE | re.DOTALL)
"""The handlers of the model that stand under a clause on the page."""

NONE: Final = "—"
DEFECT: Final = re.compile(r"^### ([NF]\w+)\. (.+)$", re.MULTILINE)
ASKED: Final = re.compile(r"^\| (M\d+) \| (.+?) \| ([RAH]\d+)?", re.MULTILINE)
"""Rows of the table of what every transport must do."""
KEPT: Final = re.compile(r"^\| (Z\d+) \| (.+) \|$", re.MULTILINE)
"""Rows of the tables of how ours meets and mends its streams."""


@dataclass(frozen=True)
class Clause:
    """One clause: its text, and what its last line names."""

    id: str
    subject: str
    title: str
    text: str
    properties: tuple[str, ...]
    rules: tuple[str, ...]
    model: tuple[str, ...]
    tla: tuple[str, ...]
    proof: tuple[str, ...]
    """The clauses of the proof that serve it, as `farref prove` names them."""


@cache
def clauses() -> dict[str, Clause]:
    """Cut the specs of all subjects into their clauses, by id and in the order of their numbers, whatever that of the text."""
    return {clause.id: clause for about in CHECKED.values() for clause in _clauses_of(about)}


def _clauses_of(about: AnySubject) -> list[Clause]:
    _, *pieces = HEADING.split(_read(about.spec))
    cut = zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    found = [_clause(about, name, title, rest.split("\n## ")[0].strip()) for name, title, rest in cut]
    return sorted(found, key=lambda one: int(one.id[1:]))


def defects() -> dict[str, str]:
    """Give the known defects of RRefs with their titles, those the model can express and those it cannot."""
    return dict(DEFECT.findall(_read("differences.md")))


@dataclass(frozen=True)
class Requirement:
    """What a transport is asked for: its id, its page, its sentence, and the first clause that it serves, if one is named."""

    id: str
    page: str
    text: str
    clause: str


def requirements() -> list[Requirement]:
    """Give what every transport is asked for, and what ours keeps."""
    page = "building/transport.md"
    asked = ASKED.findall(_read(page))
    of_all = [Requirement(name, page, f"A transport MUST {text}.", clause) for name, text, clause in asked]
    return [*of_all, *(Requirement(name, "wire.md", f"{text}.", "") for name, text in KEPT.findall(_read("wire.md")))]


def _read(name: str) -> str:
    return (files("farref") / "spec" / name).read_text("utf-8")


def _clause(about: AnySubject, name: str, title: str, text: str) -> Clause:
    body, _, last = text.rpartition("\n")
    named = LAST_LINE.fullmatch(last)
    if named is None:
        form = "Property: … · Rule switch: … · Model: … · TLA+: … · Proof: …"
        raise ValueError(f"the last line of {name} in spec/{about.spec} is not '{form}'")
    properties, rules, model, tla, proof = (() if cell == NONE else tuple(cell.split(", ")) for cell in named.groups())
    return Clause(name, about.name, title, FOLDED.sub("", body).strip(), properties, rules, model, tla, proof)
