"""Pages of the spec for people: a clause, or what a name in it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markdown import Markdown

from farref.clauses import Clause, clauses
from farref.names import Named, Sort
from farref.properties.protocols import CHECKED

COMMANDS_ARE: Final = {
    Sort.PROPERTY: ("check it",),
    Sort.CLAIM: ("see it break", "see it hold"),
    Sort.GAP: ("see it break", "see it hold"),
    Sort.RULE: ("leave it out",),
    Sort.SITUATION: ("reach it",),
    Sort.DEFECT: (),
    Sort.PROOF: ("prove it",),
    Sort.REQUIREMENT: (),
    Sort.CHECK: ("judge by it",),
}
"""What each command of a name is for."""


def show_all(page: Console, found: Sequence[Clause | Named]) -> None:
    """Print clauses and names, a blank line apart."""
    for place, one in enumerate(found):
        page.print(end="\n" if place else "")
        if isinstance(one, Clause):
            show_clause(page, one)
        else:
            show_name(page, one)


def show_clause(page: Console, clause: Clause) -> None:
    """Print a clause with its cross-references, and what the properties and rules among them say."""
    text = f"### {clause.id}. {clause.title}\n\n{clause.text}"
    page.print(Markdown(text) if page.is_terminal else text, soft_wrap=not page.is_terminal, markup=False)
    page.print()
    for heading, said in _references(clause):
        page.print(f"{heading:14}{said}", soft_wrap=True, markup=False, highlight=False)


def show_name(page: Console, named: Named) -> None:
    """Print what a name stands for."""
    clause = f"{named.clause}. {clauses()[named.clause].title} (farref spec {named.clause})" if named.clause else ""
    lines = [
        ("what it is", named.what),
        ("must hold" if named.kind is not Sort.SITUATION else "must happen", named.must_hold),
        ("clause", clause),
        *zip(COMMANDS_ARE[named.kind], named.commands, strict=True),
    ]
    page.print(f"{named.id}", style="bold", markup=False, highlight=False)
    for heading, said in lines:
        if said:
            page.print(f"{heading:14}{said}", soft_wrap=True, markup=False, highlight=False)


def _references(clause: Clause) -> list[tuple[str, str]]:
    about = CHECKED[clause.subject]
    sentences = {one.id: one.text for one in about.properties(about.broadest)}
    return [
        *((f"property {name}", sentences[name]) for name in clause.properties),
        *(
            ("rule", f"{name}: {about.text_of(name)} (farref check {about.name} --without {name})")
            for name in clause.rules
        ),
        ("model", ", ".join(clause.model) or "none"),
        ("TLA+", ", ".join(clause.tla) or "none"),
        ("proof", ", ".join(clause.proof) or "none"),
    ]
