"""`farref crashes`: a worker is lost at every point of some stories, and what is left is held against the spec."""

from __future__ import annotations

from collections import Counter
from typing import Final

import click

from farref.options.groups import format_option, quiet_option
from farref.properties.twin.backends.crashes.campaign import crash_points, try_point
from farref.properties.twin.backends.crashes.points import Outcome, Point
from farref.terminal.exits import BROKEN, OK
from farref.terminal.files import print_json
from farref.terminal.output import put
from farref.terminal.progress import saying
from farref.words import counted

SHOWN_MAX: Final = 5


@click.command()
@click.argument("story", nargs=-1)
@click.option("--replay", metavar="POINT", help="Take this one point only, and tell where it is.")
@click.option("--list", "listed", is_flag=True, help="List the names of the points, and take none.")
@format_option("pretty", "json")
@quiet_option
def crashes(story: tuple[str, ...], replay: str | None, listed: bool, form: str, quiet: bool) -> int:
    """Lose a worker before and after every step of some stories, and compare what is left with the spec.

    A story is a list of steps: what applications do, and messages that arrive. At each point of it each role is lost: the owner
    of a value, its creator, a user, a parent, a child, the root of a pass, a worker in its middle. It is lost in three ways: it
    is gone; it is gone and was heard before; or it was only taken for dead and goes on. In one story two are lost.

    After each loss the tables of all others hold exactly what R37 to R43 say. When the lost worker is buried, every value is
    still there for whoever holds it. When the applications have let go, nothing is left. Passes end as A21 and A29 say.

    \b
    farref crashes                                    every point, on the simulated network
    farref crashes lend chain                         the points of two stories
    farref crashes --list                             the names of the points
    farref crashes --replay heirs.08.C.zombie         one point again
    """
    points = chosen(story, replay)
    if listed:
        put("\n".join(point.name for point in points))
        return OK
    outcomes = []
    with saying(quiet=quiet) as say:
        for number, point in enumerate(points, start=1):
            outcomes.append(try_point(point))
            say(f"{number} of {counted(len(points), 'crash point')}: {point.name}")
    if form == "json":
        print_json(document(outcomes))
    else:
        put(told(outcomes, in_full=replay is not None))
    return BROKEN if any(one.problems for one in outcomes) else OK


def chosen(stories: tuple[str, ...], replay: str | None) -> list[Point]:
    """List the points that are asked for."""
    points = crash_points()
    known = {point.name.split(".")[0] for point in points}
    for story in stories:
        if story not in known:
            raise click.UsageError(f"no story is called {story!r}; there are {', '.join(sorted(known))}")
    if replay is not None:
        points = [point for point in points if point.name == replay]
        if not points:
            raise click.UsageError(f"no point is called {replay!r}; `farref crashes --list` has all names")
    return [point for point in points if not stories or point.name.split(".")[0] in stories]


def document(outcomes: list[Outcome]) -> dict[str, object]:
    """Give all that was found, for another program."""
    problems = [
        {"point": one.point.name, "place": one.place, "problems": list(one.problems)}
        for one in outcomes
        if one.problems
    ]
    return {"points": len(outcomes), "broken": len(problems), "problems": problems}


def told(outcomes: list[Outcome], *, in_full: bool) -> str:
    """Say what was found."""
    broken = [one for one in outcomes if one.problems]
    lines = [one.place for one in outcomes] if in_full else []
    for one in broken[:SHOWN_MAX]:
        lines += [f"{one.point.name}  ({one.place})", *[f"    {problem}" for problem in one.problems]]
        lines += [f"    farref crashes --replay {one.point.name}"]
    if len(broken) > SHOWN_MAX:
        lines.append(f"... and {len(broken) - SHOWN_MAX} more")
    fates = Counter(one.point.fate.value for one in outcomes)
    ways = ", ".join(f"{number} {name}" for name, number in fates.items())
    verdict = f"{len(broken)} go wrong" if broken else "after each of them everything is as the spec says"
    return "\n".join([*lines, f"{counted(len(outcomes), 'crash point')} ({ways}): {verdict}"])
