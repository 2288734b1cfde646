"""`farref crashes`: a worker is lost at every point of some stories, and what is left is held against the spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

import click

from farref.options.groups import format_option, quiet_option
from farref.options.work import is_shared, with_work_options, work_given
from farref.properties.twin.backends.crashes.campaign import crash_points, try_points
from farref.properties.twin.backends.crashes.points import Outcome
from farref.properties.twin.backends.crashes.real.campaign import real_points, try_real_points
from farref.properties.work.hiring import hire
from farref.properties.work.units import WorkersLost
from farref.terminal.exits import BROKEN, OK, UNDECIDED
from farref.terminal.files import print_json
from farref.terminal.output import put, remark
from farref.terminal.progress import saying, sharing
from farref.words import counted

SHOWN_MAX: Final = 5

UNIT: Final = {"simulated": 250, "processes": 10}
"""How many points are taken by somebody else at a time: some seconds."""


@click.command()
@click.argument("story", nargs=-1)
@click.option(
    "--backend", type=click.Choice(["simulated", "processes"]), default="simulated", help="Where workers are lost."
)
@click.option("--replay", metavar="POINT", help="Take this one point only, and tell where it is.")
@click.option("--list", "listed", is_flag=True, help="List the names of the points, and take none.")
@with_work_options
@format_option("pretty", "json")
@quiet_option
def crashes(
    story: tuple[str, ...], backend: str, replay: str | None, listed: bool, form: str, quiet: bool, **given: Any
) -> int:
    """Lose a worker before and after every step of some stories, and compare what is left with the spec.

    A story is a list of steps: what applications do, and messages that arrive. At each point of it each role is lost: the owner
    of a value, its creator, a user, a parent, a child, the root of a pass, a worker in its middle. It is lost in three ways: it
    is gone; it is gone and was heard before; or it was only taken for dead and goes on. In one story two are lost.

    After each loss the tables of all others hold exactly what R37 to R43 say. When the lost worker is buried, every value is
    still there for whoever holds it. When the applications have let go, nothing is left. Passes end as A21 and A29 say.

    Between real processes a worker is lost at a message of a story: killed before it leaves or when it has, before it takes
    effect or when it has and nothing is answered; or stopped, excluded by mistake, and let go on. A point takes about a second.

    \b
    farref crashes                                    every point, on the simulated network
    farref crashes lend chain                         the points of two stories
    farref crashes --backend processes                every point between real processes
    farref crashes --jobs 2                           the same in two processes, or with --cluster on many machines
    farref crashes --list                             the names of the points
    farref crashes --replay heirs.08.C.zombie         one point again
    """
    points = chosen(backend, story, replay)
    if listed:
        put("\n".join(point.name for point in points))
        return OK
    with saying(quiet=quiet) as say:
        outcomes, stopped = _collected(_outcomes(backend, points, given, say))
    if form == "json":
        print_json(document(outcomes))
    else:
        put(told(outcomes, backend, in_full=replay is not None))
    if stopped is not None:
        remark(f"{stopped}; {counted(len(points) - len(outcomes), 'crash point')} not taken")
    broken = any(one.problems for one in outcomes)
    return BROKEN if broken else OK if stopped is None else UNDECIDED


def _outcomes(backend: str, points: list[Any], given: dict[str, Any], say: Callable[[str], None]) -> Iterator[Outcome]:
    """Take the points, here or shared out in units, and tell how far it is."""
    if is_shared(given):
        length = UNIT[backend]
        units = [points[at : at + length] for at in range(0, len(points), length)]
        with hire(**work_given(given)) as workers:
            for unit in sharing(workers, "unit", say)(partial(_unit, backend), units):
                yield from unit
        return
    for number, outcome in enumerate(tried(backend, points), start=1):
        say(f"{number} of {counted(len(points), 'crash point')}: {outcome.point.name}")
        yield outcome


def _unit(backend: str, points: list[Any]) -> list[Outcome]:
    return list(tried(backend, points))


def _collected(found: Iterable[Outcome]) -> tuple[list[Outcome], str | None]:
    """List the outcomes, and say why these are not all, if they are not."""
    outcomes: list[Outcome] = []
    try:
        for one in found:
            outcomes.append(one)
    except KeyboardInterrupt:
        return outcomes, "interrupted"
    except WorkersLost as lost:
        return outcomes, str(lost)
    return outcomes, None


def tried(backend: str, points: list[Any]) -> Iterator[Outcome]:
    """Take one point after the other."""
    return try_real_points(points) if backend == "processes" else try_points(points)


def chosen(backend: str, stories: tuple[str, ...], replay: str | None) -> list[Any]:
    """List the points that are asked for."""
    points: list[Any] = [*(real_points() if backend == "processes" else crash_points())]
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


def told(outcomes: list[Outcome], backend: str, *, in_full: bool) -> str:
    """Say what was found."""
    broken = [one for one in outcomes if one.problems]
    there = "" if backend == "simulated" else f"--backend {backend} "
    lines = [one.place for one in outcomes] if in_full else []
    for one in broken[:SHOWN_MAX]:
        lines += [f"{one.point.name}  ({one.place})", *[f"    {problem}" for problem in one.problems]]
        lines += [f"    farref crashes {there}--replay {one.point.name}"]
    if len(broken) > SHOWN_MAX:
        lines.append(f"... and {len(broken) - SHOWN_MAX} more")
    ways = Counter(one.point.way for one in outcomes)
    lost = ", ".join(f"{number} {name}" for name, number in ways.items())
    verdict = f"{len(broken)} go wrong" if broken else "after each of them everything is as the spec says"
    return "\n".join([*lines, f"{counted(len(outcomes), 'crash point')} ({lost}): {verdict}"])
