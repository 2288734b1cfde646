"""`farref spec`: the spec, clause by clause."""

from __future__ import annotations

import click

from farref.clauses import UnknownClauseError, clauses, find_clause, show_clause
from farref.options.groups import format_option
from farref.terminal.exits import OK
from farref.terminal.files import print_json
from farref.terminal.output import page, put


@click.command()
@click.argument("clause", required=False)
@format_option("pretty", "json")
def spec(clause: str | None, form: str) -> int:
    """Print a clause of the spec with everything that cites it, or list the clauses.

    \b
    farref spec
    farref spec R7
    """
    try:
        found = list(clauses().values()) if clause is None else [find_clause(clause)]
    except UnknownClauseError as error:
        raise click.UsageError(str(error)) from error
    if form == "json":
        print_json(found)
    elif clause is None:
        put("\n".join(f"{one.id:4} {one.title}" for one in found))
    else:
        with page() as console:
            show_clause(console, found[0])
    return OK
