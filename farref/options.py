"""The flags of `farref check`, and the request they make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from difflib import get_close_matches
from math import nan
from typing import Any, Final, TypeVar

import click

from farref.clauses import defects
from farref.model.checker.interface import Budget
from farref.model.rules import PROFILES, RULES
from farref.model.world import Bounds
from farref.properties.claims import CLAIMS
from farref.properties.limits import complaint, limits_of
from farref.properties.portfolio import PORTFOLIO, Configuration
from farref.properties.rref import rref_properties
from farref.request import Request, Walk

ENGINES: Final = ("fast", "reference", "tlc")

BOUNDS_HELP: Final = {
    "workers": "Processes; B owns the first RRef.",
    "rrefs": "Remote references.",
    "forks": "Forks of each RRef: handles that ever exist.",
    "drops": "Control messages the network may lose.",
    "duplicates": "Control messages it may deliver once more.",
    "timeouts": "Creations and fetches the application may give up.",
    "fetches": "Values it may ask for.",
    "failures": "Calls that cannot be sent or understood.",
    "results": "Share in results as well as in arguments.",
    "owner_shares": "The owner shares as well as users.",
    "self_shares": "Share with oneself as well as with others.",
    "shutdown": "End with a graceful shutdown.",
}


class WholeNumber(click.IntRange):
    """A whole number within limits; whatever else is given, the answer says what is allowed."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read the number."""
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            upwards = "upwards" if self.max is None else f"to {self.max:g}"
            self.fail(f"{value!r} is not a whole number from {self.min} {upwards}", param, ctx)


class Seconds(click.FloatRange):
    """A number of seconds that ends some day; `nan` and `inf` do not."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=1e6)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read the number."""
        try:
            seconds = float(super().convert(value, param, ctx))
        except click.BadParameter:
            seconds = nan
        if seconds != seconds:
            self.fail(f"{value!r} is not a number of seconds above 0, up to {self.max:,.0f}", param, ctx)
        return seconds


Command = TypeVar("Command", bound=Callable[..., Any])


def bounds_options(command: Command) -> Command:
    """Add a flag for every bound; None where it was not given."""
    for bound in reversed(fields(Bounds)):
        name, text = bound.name.replace("_", "-"), f"{BOUNDS_HELP[bound.name]} Default {_default(bound.default)}."
        if isinstance(bound.default, bool):
            command = click.option(f"--{name}/--no-{name}", bound.name, default=None, help=text)(command)
        else:
            smallest, largest = limits_of(bound.name)
            kind = WholeNumber(smallest, largest)
            command = click.option(f"--{name}", bound.name, type=kind, default=None, help=text)(command)
    return command


def _default(value: Any) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def make_request(given: dict[str, Any]) -> Request:
    """Turn the flags that were given into a request, or say what does not fit together."""
    bounds_given = {bound.name: given[bound.name] for bound in fields(Bounds) if given[bound.name] is not None}
    _refuse_ignored(given)
    claim, without = _claim(given["claim"]), _rule(given["without"])
    if without is not None and given["profile"] == "torch":
        raise click.UsageError("--without takes a rule away from the sound profile; leave out --profile torch")
    configurations, is_portfolio = _configurations(bounds_given, claim)
    return Request(
        configurations=configurations,
        is_portfolio=is_portfolio,
        profile=given["profile"],
        without=without,
        claim=claim,
        engine=given["engine"] or ENGINES[0],
        budget=Budget(given["states_max"], given["seconds_max"], given["depth_max"]),
        symmetry=given["symmetry"],
        walk=_walk(given),
    )


def _refuse_ignored(given: dict[str, Any]) -> None:
    """Refuse what could be given and would not be heeded."""
    if given["seed"] is not None and given["walk"] is None:
        raise click.UsageError("--seed is for random walks; add --walk")
    if given["compare_engines"] and given["engine"] is not None:
        raise click.UsageError("--compare-engines runs every engine; leave out --engine")
    if (given["compare_engines"] or given["engine"] == "tlc") and (given["states_max"] or given["depth_max"]):
        raise click.UsageError("TLC stops neither at a number of states nor at a depth; use --seconds-max")


def _walk(given: dict[str, Any]) -> Walk | None:
    if given["walk"] is None:
        return None
    if given["engine"] == "tlc" or given["symmetry"]:
        raise click.UsageError("--walk goes with neither --engine tlc nor --symmetry")
    return Walk(given["walk"], given["seed"] or 0)


def _rule(name: str | None) -> str | None:
    if name is not None and name not in RULES:
        near = [f"did you mean {rule!r}?" for rule in get_close_matches(name, RULES, n=1)]
        known = f"known are {', '.join(map(repr, RULES))}"
        raise click.UsageError(f"--without: no rule is called {name!r}; {' '.join([*near, known])}")
    return name


def _claim(name: str | None) -> str | None:
    """Find a claim or a property by its id, however it is spelled."""
    known = [*CLAIMS, *(one.id for one in rref_properties(Bounds(shutdown=True)))]
    found = next((one for one in known if name is not None and one.lower() == name.lower()), None)
    if name is not None and found is None and name.upper() in defects():
        raise click.UsageError(
            f"--claim: {name.upper()} is not modelled; spec/differences.md tells what is known of it"
        )
    if name is not None and found is None:
        raise click.UsageError(f"--claim: no claim or property is called {name!r}; known are {', '.join(known)}")
    return found


def _configurations(bounds: dict[str, Any], claim: str | None) -> tuple[tuple[Configuration, ...], bool]:
    if claim in CLAIMS:
        if bounds:
            raise click.UsageError(
                f"--claim {claim} has its own bounds; leave out --{next(iter(bounds)).replace('_', '-')}"
            )
        return (Configuration(claim, CLAIMS[claim].bounds, CLAIMS[claim].title),), False
    if not bounds:
        return tuple(PORTFOLIO), True
    asked = Bounds(**bounds)
    wrong = complaint(asked)
    if wrong is not None:
        raise click.UsageError(wrong)
    if claim is not None and claim not in {one.id for one in rref_properties(asked)}:
        raise click.UsageError(f"--claim {claim} says nothing under these bounds; add --shutdown")
    return (Configuration("asked for", asked, "the bounds given on the command line"),), False


def subject_argument(command: Command) -> Command:
    """Add the argument that names the protocol."""
    return click.argument("subject", type=click.Choice(["rref"]), metavar="SUBJECT")(command)


def check_options(command: Command) -> Command:
    """Add the flags that say which protocol is checked, how, and for how long."""
    for option in reversed(_CHECK_OPTIONS):
        command = option(command)
    return command


CHOICE_OF_PROFILES: Final = click.Choice(list(PROFILES), case_sensitive=False)

_CHECK_OPTIONS: Final[list[Callable[[Any], Any]]] = [
    click.option("--profile", type=CHOICE_OF_PROFILES, default="sound", help="Whose rules. Default sound."),
    click.option("--without", metavar="RULE", help="SOUND without one rule (a mutant)."),
    click.option("--claim", metavar="ID", help="One known defect (N1, N2, ...) or one property (P1, G1, ...) only."),
    click.option("--each", type=click.Choice(["rule", "claim"]), help="Table of every mutant, or of every claim."),
    click.option("--compare-engines", is_flag=True, help="Table of what reference, fast and tlc say."),
    click.option("--engine", type=click.Choice(ENGINES), help="Who searches. Default fast."),
    click.option("--states-max", type=WholeNumber(1), help="Stop after so many states per configuration."),
    click.option("--seconds-max", type=Seconds(), help="Stop after so many seconds."),
    click.option("--depth-max", type=WholeNumber(1), help="Stop at this depth."),
    click.option("--symmetry", is_flag=True, help="Take workers that own nothing for interchangeable."),
    click.option("--walk", type=WholeNumber(1), metavar="N", help="Take N random walks instead of searching."),
    click.option("--seed", type=int, help="Seed of the walks. Default 0."),
    click.option("--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write the counterexample to a file."),
]
