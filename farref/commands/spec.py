"""`farref spec`: the spec, clause by clause, and what the names in it stand for."""

from __future__ import annotations

from collections.abc import Sequence

import click

from farref.clauses import Clause, clauses
from farref.names import Named, find_names, what_there_is
from farref.options.groups import format_option
from farref.rendering.spec import show_all
from farref.terminal.exits import OK
from farref.terminal.files import print_json
from farref.terminal.output import page, put


@click.command()
@click.argument("name", required=False)
@format_option("pretty", "json")
def spec(name: str | None, form: str) -> int:
    """Explain a clause, a property, a known defect, a rule or a check of the spec, or list the clauses.

    A clause is printed with everything that cites it. For any other name: what it is, the sentence that must hold, the clause
    that says so, and the command that checks it.

    \b
    farref spec                             the list of clauses
    farref spec R7                          a clause
    farref spec P2                          a property
    farref spec N1                          a known defect of PyTorch
    farref spec entry_waits_for_creation    a rule
    farref spec R33.lockstep                a check of the kit
    """
    found: Sequence[Clause | Named] = list(clauses().values()) if name is None else _find(name)
    if form == "json":
        print_json(found)
    elif name is None:
        put("\n".join(f"{one.id:4} {one.title}" for one in clauses().values()))
    else:
        with page() as console:
            show_all(console, found)
    return OK


def _find(name: str) -> Sequence[Clause | Named]:
    if name.upper() in clauses():
        return [clauses()[name.upper()]]
    named = find_names(name)
    if not named:
        raise click.UsageError(what_there_is(name))
    return named
