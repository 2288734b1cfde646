"""The flags of `farref check`, and the request they make."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from math import nan
from typing import Any, Final, TypeVar

import click

from farref.checking.request import Request, Walk
from farref.clauses import defects
from farref.model.checker.interface import Budget
from farref.options.bounds import WholeNumber, bounds_given, bounds_options
from farref.properties.protocol import AnyProtocol, Configuration
from farref.properties.protocols import PROTOCOLS

ENGINES: Final = ("fast", "reference", "tlc")


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


def make_request(given: dict[str, Any]) -> Request:
    """Turn the flags that were given into a request, or say what does not fit together."""
    about = PROTOCOLS[given["subject"]]
    bounds = bounds_given(given, about)
    _refuse_ignored(given)
    claim, without = _claim(given["claim"], about), _rule(given["without"], about)
    if without is not None and given["profile"] == "torch":
        raise click.UsageError("--without takes a rule away from the sound profile; leave out --profile torch")
    configurations, is_portfolio = _configurations(bounds, claim, about)
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


def _rule(name: str | None, about: AnyProtocol) -> str | None:
    if name is not None and name not in about.rules:
        near = [f"did you mean {rule!r}?" for rule in get_close_matches(name, about.rules, n=1)]
        known = f"known are {', '.join(map(repr, about.rules))}"
        raise click.UsageError(f"--without: no rule is called {name!r}; {' '.join([*near, known])}")
    return name


def _claim(name: str | None, about: AnyProtocol) -> str | None:
    """Find a claim or a property by its id, however it is spelled."""
    known = [*about.claims, *(one.id for one in about.properties(about.broadest))]
    found = next((one for one in known if name is not None and one.lower() == name.lower()), None)
    if name is not None and found is None and about.name == "rref" and name.upper() in defects():
        raise click.UsageError(
            f"--claim: {name.upper()} is not modelled; spec/differences.md tells what is known of it"
        )
    if name is not None and found is None:
        raise click.UsageError(f"--claim: no claim or property is called {name!r}; known are {', '.join(known)}")
    return found


def _configurations(
    bounds: dict[str, Any], claim: str | None, about: AnyProtocol
) -> tuple[tuple[Configuration, ...], bool]:
    if claim is not None and claim in about.claims:
        if bounds:
            raise click.UsageError(
                f"--claim {claim} has its own bounds; leave out --{next(iter(bounds)).replace('_', '-')}"
            )
        return (Configuration(claim, about.claims[claim].bounds, about.claims[claim].title),), False
    if not bounds:
        return about.portfolio, True
    asked = about.bounds(**bounds)
    wrong = about.complaint(asked)
    if wrong is not None:
        raise click.UsageError(wrong)
    if claim is not None and claim not in {one.id for one in about.properties(asked)}:
        raise click.UsageError(f"--claim {claim} says nothing under these bounds; {SAYS_MORE[about.name]}")
    return (Configuration("asked for", asked, "the bounds given on the command line"),), False


SAYS_MORE: Final = {"rref": "add --shutdown", "autograd": "add --passes 2, or leave out --smart and --forward"}


def subject_argument(command: Command) -> Command:
    """Add the argument that names the protocol."""
    return click.argument("subject", type=click.Choice(list(PROTOCOLS)), metavar="SUBJECT")(command)


def check_options(command: Command) -> Command:
    """Add the flags that say which protocol is checked, how, and for how long."""
    for option in reversed(_CHECK_OPTIONS):
        command = option(command)
    return bounds_options(command)


CHOICE_OF_PROFILES: Final = click.Choice(
    list(dict.fromkeys(name for one in PROTOCOLS.values() for name in one.profiles)), case_sensitive=False
)

_CHECK_OPTIONS: Final[list[Callable[[Any], Any]]] = [
    click.option("--profile", type=CHOICE_OF_PROFILES, default="sound", help="Whose rules. Default sound."),
    click.option("--without", metavar="RULE", help="SOUND without one rule (a mutant)."),
    click.option("--claim", metavar="ID", help="One known defect (N1, D1, ...) or one property (P1, S1, ...) only."),
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
