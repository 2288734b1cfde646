"""Carry out a request: run the engine on each configuration and keep what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from farref.checking.request import Request
from farref.model.checker import fast, reference
from farref.model.checker.disk import search as disk
from farref.model.checker.interface import Budget, Kind, Progress, Property, Result, Verdict
from farref.model.checker.walk import walk
from farref.properties.protocol import Configuration
from farref.tlc import engine as tlc
from farref.tlc import members

OnProgress = Callable[[Progress], None]
OnConfiguration = Callable[[Configuration], OnProgress | None]

WALK_STEPS_MAX: Final = 1000
TLC_WORKERS: Final = 1
"""With more of them TLC's depth and counterexamples need not be the shortest."""

INTERRUPTED: Final = "interrupted"


@dataclass(frozen=True)
class Checked:
    """One configuration, what was checked in it, and what was found."""

    configuration: Configuration
    properties: tuple[Property, ...]
    result: Result

    @property
    def verdict(self) -> Verdict:
        """The verdict on everything but reachability, of which one configuration cannot be the judge."""
        return worst(self._verdicts)

    @property
    def is_decided(self) -> bool:
        """Say whether something is known of every property; a search may break one and leave others open."""
        return Verdict.INCOMPLETE not in self._verdicts

    @property
    def _verdicts(self) -> list[Verdict]:
        return [self.result.verdicts[one.id] for one in self.properties if not is_witness(one)]


@dataclass(frozen=True)
class Found:
    """Everything a request led to, and why it went no further, if it did not."""

    request: Request
    runs: tuple[Checked, ...]
    stopped: str | None = None


def worst(verdicts: list[Verdict]) -> Verdict:
    """Put verdicts together: one violation decides, and what is not known of a part is not known of the whole."""
    if Verdict.VIOLATED in verdicts:
        return Verdict.VIOLATED
    return Verdict.HOLDS if verdicts and Verdict.INCOMPLETE not in verdicts else Verdict.INCOMPLETE


def is_witness(property_: Property) -> bool:
    """Say whether a property only asks that something can happen."""
    return property_.kind is Kind.SOMETIMES


def carry_out(request: Request, on_configuration: OnConfiguration, *, first_only: bool = False) -> Found:
    """Run the configurations in order. A protocol that is expected to break is left at the first configuration that breaks it.

    With `first_only`, the engine stops at the first violation too, which is the shortest one; otherwise it goes on to
    find the shortest violation of each property.
    """
    runs: list[Checked] = []
    stopped: str | None = None
    try:
        for configuration in request.configurations:
            left = _seconds_left(request.budget, runs)
            run = _run(request, configuration, left, on_configuration(configuration), first_only)
            runs.append(run)
            stopped = _why_stop(request, run, left)
            if stopped is not None:
                break
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    return Found(request, tuple(runs), stopped)


def _run(
    request: Request, configuration: Configuration, budget: Budget, on_progress: OnProgress | None, first_only: bool
) -> Checked:
    properties = request.properties(configuration.bounds)
    if request.engine == "tlc" and members.has_views(configuration.bounds):
        properties = members.stated(properties)
    result = _result(request, configuration.bounds, properties, budget, on_progress, first_only)
    return Checked(configuration, properties, result)


def _result(
    request: Request,
    bounds: Any,
    properties: tuple[Property, ...],
    budget: Budget,
    on_progress: OnProgress | None,
    first_only: bool,
) -> Result:
    model = request.about.model(bounds, request.rules)
    if request.walk is not None:
        return walk(
            model,
            properties,
            seed=request.walk.seed,
            walks=request.walk.walks,
            steps_max=budget.depth_max or WALK_STEPS_MAX,
            budget=replace(budget, depth_max=None),
            stop_at_violation=first_only,
            on_progress=on_progress,
        )
    if request.engine == "tlc" and members.has_views(bounds):
        return members.check(bounds, request.rules, properties, budget=budget, on_progress=on_progress)
    if request.engine == "tlc":
        return tlc.check(
            bounds,
            request.rules,
            properties,
            workers=TLC_WORKERS,
            symmetry=request.symmetry,
            budget=budget,
            on_progress=on_progress,
        )
    return _engine(request)(model, properties, budget=budget, stop_at_violation=first_only, on_progress=on_progress)


def _engine(request: Request) -> Callable[..., Result]:
    if request.place is not None:
        return partial(disk.check, place=request.place)
    return partial(fast.check if request.engine == "fast" else reference.check, symmetry=request.symmetry)


def _seconds_left(budget: Budget, runs: list[Checked]) -> Budget:
    """The seconds are for all configurations together, states and depth for each of them."""
    if budget.seconds_max is None:
        return budget
    return replace(budget, seconds_max=max(0.0, budget.seconds_max - sum(run.result.seconds for run in runs)))


def _why_stop(request: Request, run: Checked, left: Budget) -> str | None:
    if INTERRUPTED in run.result.notes:
        return INTERRUPTED
    if run.verdict is Verdict.VIOLATED and not request.is_expected_to_hold:
        return "stopped at the first configuration that is violated"
    if left.seconds_max is not None and run.result.seconds >= left.seconds_max:
        return "the seconds are used up"
    return None
