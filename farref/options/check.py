"""The flags of `farref check`, and the request they make."""

from __future__ import annotations

from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click

from farref.checking.request import Request, Walk
from farref.clauses import defects
from farref.model.checker.disk.search import Place
from farref.model.checker.interface import Budget
from farref.options.bounds import bounds_given, bounds_options
from farref.options.groups import OUTPUT, Command, option, with_options
from farref.options.numbers import Seconds, WholeNumber
from farref.options.work import work_options
from farref.properties.protocol import AnySubject, Configuration
from farref.properties.protocols import CHECKED, PROTOCOLS

ENGINES: Final = ("fast", "reference", "tlc")
MEMORY_GB: Final = 4


def make_request(given: dict[str, Any]) -> Request:
    """Turn the flags that were given into a request, or say what does not fit together."""
    about = CHECKED[given["subject"]]
    bounds = bounds_given(given, about)
    _refuse_ignored(given)
    claim, without = _claim(given["claim"], about), _rule(given["without"], about)
    if without is not None and given["profile"] == "torch":
        raise click.UsageError("--without takes a rule away from the sound profile; leave out --profile torch")
    _refuse_unknown(given, about)
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
        place=_place(given, is_portfolio),
    )


def _refuse_ignored(given: dict[str, Any]) -> None:
    """Refuse what could be given and would not be heeded."""
    if given["seed"] is not None and given["walk"] is None:
        raise click.UsageError("--seed is for random walks; add --walk")
    if given["compare_engines"] and given["engine"] is not None:
        raise click.UsageError("--compare-engines runs every engine; leave out --engine")
    if (given["compare_engines"] or given["engine"] == "tlc") and (given["states_max"] or given["depth_max"]):
        raise click.UsageError("TLC stops neither at a number of states nor at a depth; use --seconds-max")


def _refuse_unknown(given: dict[str, Any], about: AnySubject) -> None:
    """Refuse what only the protocols of PyTorch have: a profile of PyTorch, known defects, a text in TLA+."""
    if given["profile"] not in about.profiles:
        raise click.UsageError(f"{about.name} has no profile {given['profile']!r}: PyTorch's are other threads")
    if given["each"] == "claim" and not about.claims:
        raise click.UsageError(f"{about.name} has no known defects; --each rule is the table there is")
    if about.name not in PROTOCOLS and (given["engine"] == "tlc" or given["compare_engines"]):
        raise click.UsageError(f"{about.name} are not written in TLA+; use --engine fast or --engine reference")


def _walk(given: dict[str, Any]) -> Walk | None:
    if given["walk"] is None:
        return None
    if given["engine"] == "tlc" or given["symmetry"]:
        raise click.UsageError("--walk goes with neither --engine tlc nor --symmetry")
    return Walk(given["walk"], given["seed"] or 0)


def _place(given: dict[str, Any], is_portfolio: bool) -> Place | None:
    """Say where on disk the states are kept, if they are."""
    if given["disk"] is not None and given["resume"] is not None:
        raise click.UsageError("--disk begins a search and --resume goes on with one; give one of them")
    where = given["disk"] or given["resume"]
    if where is None:
        if given["memory_max"] is not None:
            raise click.UsageError("--memory-max is for a search on disk; add --disk or --resume")
        return None
    if is_portfolio:
        raise click.UsageError("a search on disk is of one configuration: give bounds or a claim")
    if given["engine"] not in (None, "fast") or any(
        given[one] for one in ("symmetry", "walk", "each", "compare_engines")
    ):
        raise click.UsageError("a search on disk goes without --symmetry, --walk, tables and other engines")
    return Place(Path(where), (given["memory_max"] or MEMORY_GB) << 30, given["resume"] is not None)


def _rule(name: str | None, about: AnySubject) -> str | None:
    if name is not None and name not in about.rules:
        near = [f"did you mean {rule!r}?" for rule in get_close_matches(name, about.rules, n=1)]
        known = f"known are {', '.join(map(repr, about.rules))}"
        raise click.UsageError(f"--without: no rule is called {name!r}; {' '.join([*near, known])}")
    return name


def _claim(name: str | None, about: AnySubject) -> str | None:
    """Find a claim or a property by its id, however it is spelled."""
    known = [*about.every_claim, *(one.id for one in about.properties(about.broadest))]
    found = next((one for one in known if name is not None and one.lower() == name.lower()), None)
    if name is not None and found is None and about.name == "rref" and name.upper() in defects():
        raise click.UsageError(
            f"--claim: {name.upper()} is not modelled; spec/differences.md tells what is known of it"
        )
    if name is not None and found is None:
        unknown = f"no claim or property is called {name!r}; known are {', '.join(known)}"
        raise click.UsageError(f"--claim: {_elsewhere(name, about)}{unknown}")
    return found


def _elsewhere(name: str, about: AnySubject) -> str:
    """Say which other protocol knows a claim or a property by its id, if one does."""
    for other in CHECKED.values():
        ids = [*other.every_claim, *(one.id for one in other.properties(other.broadest))]
        if name.lower() in (one.lower() for one in ids):
            return f"{name.upper()} belongs to {other.name}; in {about.name} "
    return ""


def _configurations(
    bounds: dict[str, Any], claim: str | None, about: AnySubject
) -> tuple[tuple[Configuration, ...], bool]:
    if claim is not None and claim in about.every_claim:
        if bounds:
            raise click.UsageError(
                f"--claim {claim} has its own bounds; leave out --{next(iter(bounds)).replace('_', '-')}"
            )
        return (Configuration(claim, about.every_claim[claim].bounds, about.every_claim[claim].title),), False
    if not bounds:
        return about.portfolio, True
    asked = about.bounds(**bounds)
    wrong = about.complaint(asked)
    if wrong is not None:
        raise click.UsageError(wrong)
    if claim is not None and claim not in {one.id for one in about.properties(asked)}:
        raise click.UsageError(f"--claim {claim} says nothing under these bounds; {SAYS_MORE[about.name]}")
    return (Configuration("asked for", asked, "the bounds given on the command line"),), False


SAYS_MORE: Final = {
    "rref": "add --shutdown",
    "autograd": "add --passes 2, or leave out --smart and --forward",
    "threads": "it is asked of one call: --callers 1 --frames 1 --tasks 0",
}


def explored_request(given: dict[str, Any], budget: Budget) -> Request:
    """Turn the flags of `farref explore` into a request: one world, and the property that its run is to break."""
    about = CHECKED[given["subject"]]
    bounds, claim = bounds_given(given, about), _claim(given["claim"], about)
    without = _rule(given["without"], about)
    if without is not None and given["profile"] == "torch":
        raise click.UsageError("--without takes a rule away from the sound profile; leave out --profile torch")
    own = bounds if bounds or claim in about.every_claim else asdict(about.broadest)
    (configuration, *_), _ = _configurations(own, claim, about)
    return Request((configuration,), False, given["profile"], without, claim, budget=budget)


def check_options(command: Command) -> Command:
    """Add the flags that say which protocol is checked, how, and for how long."""
    return with_options(bounds_options(command), _CHECK_OPTIONS)


def world_options(command: Command) -> Command:
    """Add the flags that say which rules are followed, and what is to be broken."""
    return with_options(command, _WORLD_OPTIONS)


CHOICE_OF_PROFILES: Final = click.Choice(
    list(dict.fromkeys(name for one in CHECKED.values() for name in one.profiles)), case_sensitive=False
)
WHAT, HOW = "What is checked", "How it is searched"

_WORLD_OPTIONS: Final = [
    option(
        WHAT, "--profile", type=CHOICE_OF_PROFILES, default="sound",
        help="Rules that are followed: sound is this spec, torch is PyTorch 2.13. Default sound.",
    ),
    option(WHAT, "--without", metavar="RULE", help="Follow the sound rules without this one."),
    option(WHAT, "--claim", metavar="ID", help="Check one known defect (N1, D1, ...) or one property (P1, S1, ...)."),
]  # fmt: skip

_CHECK_OPTIONS: Final = [
    *_WORLD_OPTIONS,
    option(
        WHAT, "--each", type=click.Choice(["rule", "claim"]),
        help="Print a table: the sound rules without each rule in turn, or each known defect under both profiles.",
    ),
    option(
        WHAT, "--compare-engines", is_flag=True, help="Print a table of what each engine finds: reference, fast, tlc."
    ),
    *work_options(WHAT),
    option(HOW, "--engine", type=click.Choice(ENGINES), help="Engine that searches. Default fast."),
    option(HOW, "--states-max", type=WholeNumber(1), help="Stop each configuration after this many states."),
    option(HOW, "--seconds-max", type=Seconds(), help="Stop after this many seconds."),
    option(HOW, "--depth-max", type=WholeNumber(1), help="Search no deeper than this many steps."),
    option(
        HOW, "--symmetry", is_flag=True,
        help="Count two states as one if swapping workers that own no RRef makes them equal.",
    ),
    option(
        HOW, "--disk", type=click.Path(file_okay=False), metavar="DIR",
        help="Keep the states in this folder, for worlds beyond memory: about 16 bytes a state, and the widest level.",
    ),
    option(
        HOW, "--resume", type=click.Path(file_okay=False, exists=True), metavar="DIR",
        help="Go on with a search on disk that was killed, interrupted or had no room left.",
    ),
    option(
        HOW, "--memory-max", type=WholeNumber(1), metavar="GB",
        help=f"Memory that a search on disk may use, in GB. Default {MEMORY_GB}.",
    ),
    option(HOW, "--walk", type=WholeNumber(1), metavar="N", help="Take N random walks instead of a search."),
    option(HOW, "--seed", type=int, help="Seed of the random walks. Default 0."),
    option(
        OUTPUT, "--save", type=click.Path(dir_okay=False), metavar="FILE", help="Write the counterexample to a file."
    ),
]  # fmt: skip
