"""`farref evidence`: what was measured, on one page; and measuring some of it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from farref.options.groups import format_option, quiet_option
from farref.options.numbers import Seconds
from farref.rendering.evidence.figures import by_origin, fates
from farref.rendering.evidence.html import evidence_page
from farref.rendering.evidence.markdown import page
from farref.terminal.exits import OK
from farref.terminal.files import print_json, refuse_other_than_page, refuse_place, write
from farref.terminal.output import put
from farref.terminal.progress import saying
from farref.zookeeping import record
from farref.zookeeping.record import Evidence
from farref.zookeeping.transitions import transitions
from farref.zookeeping.visiting import coverage

MEASURES: Final = {"coverage": coverage, "transitions": transitions}
SECONDS_DEFAULT: Final = 60.0


@click.command()
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the page to this file.")
@click.option("--measure", type=click.Choice(list(MEASURES)), help="Measure this again first.")
@click.option(
    "--seconds",
    "marks",
    type=Seconds(),
    multiple=True,
    default=(SECONDS_DEFAULT,),
    help="Seconds for each curve or protocol. A curve has a point at each that is given, and the last ends it. Default 60.",
)
@click.option(
    "--record", "place", type=click.Path(dir_okay=False), metavar="FILE", help="Enter what is measured in this file."
)
@format_option("pretty", "markdown", "json")
@quiet_option
def evidence(**given: Any) -> int:
    """Show what a wrong protocol would have to get past: kill rates, states visited, transitions seen.

    The figures come from properties/zoo/evidence.json. What is measured is entered there, with the commit and the machine.
    The page is one file that needs nothing else: no script, no request.

    \b
    farref evidence -o evidence.html                  the page, with every creature and its story
    farref evidence --format markdown                 what spec/evidence/README.md is made of
    farref evidence --measure coverage --seconds 60 --seconds 600 --record properties/zoo/evidence.json
    farref evidence --measure transitions --seconds 600 --record properties/zoo/evidence.json
    """
    refuse_place(given["output"])
    refuse_other_than_page(given["output"])
    place = Path(given["place"]) if given["place"] is not None else None
    known = (
        record.read(record.PLACE if place is None else place) if given["measure"] is None else _measured(place, given)
    )
    if given["output"] is not None:
        write(given["output"], evidence_page(known).encode(), "page")
    else:
        _print(known, given["form"])
    return OK


def _measured(place: Path | None, given: dict[str, Any]) -> Evidence:
    """Measure, and enter it in the record as it is then: others may have written there meanwhile."""
    here = record.here()
    with saying(quiet=given["quiet"]) as say:
        found = MEASURES[given["measure"]](given["marks"], say)
    known = record.read(record.PLACE if place is None else place)
    setattr(known, given["measure"], {**found, "stamp": known.stamp(here)})
    if place is not None:
        record.write(known, place)
    return known


def _print(known: Evidence, form: str) -> None:
    match form:
        case "json":
            print_json(known)
        case "markdown":
            put(page(known).rstrip())
        case _:
            rows = by_origin(fates(known)).items()
            lines = [
                f"{name}: {row[0]} creatures, {row[1]} killed, {row[2]} argued, {row[3]} open" for name, row in rows
            ]
            put("\n".join([*lines, "farref evidence -o evidence.html writes the page"]))
