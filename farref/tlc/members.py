"""TLC as an engine for worlds with views: RRefViews.tla says of them what R46 promises.

Its steps are not those of the model. So a verdict comes without a run of the model, and numbers of states mean nothing to
our engines. What it does not have is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, TypeGuard

from farref.model.checker.interface import Budget, Property, Result, Verdict
from farref.model.checker.run import OnProgress, Run, peak_mb
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_VIEWS, RULES, RRefRules
from farref.model.rref.world import Bounds
from farref.tlc.engine import Listener, run_tlc
from farref.tlc.jar import TlcUnavailable
from farref.tlc.rref import TlcFailed
from farref.tlc.views import MODULE, USERS, ViewWorld, render_config, worlds_module

STATED: Final = {
    "P2": "NothingIsNamedAgain",
    "P1": "NothingIsDroppedEarly",
    "Vcut": "BuriedAreHeardByNobody",
    "P3": "NothingIsLeft",
    "Vend": "EverybodyIsBuried",
}
"""The properties that RRefViews.tla states, and how it names them."""

ABSENT: Final = {
    "cuts": "in RRefViews.tla no link breaks; leave out --cuts",
    "timeouts": "in RRefViews.tla nobody gives up; leave out --timeouts",
    "failures": "in RRefViews.tla no call fails by itself; leave out --failures",
    "shutdown": "in RRefViews.tla nothing shuts down; leave out --shutdown",
    "self_shares": "in RRefViews.tla nobody shares with itself; add --no-self-shares",
}
"""What RRefViews.tla leaves out, by the bound."""


def has_views(bounds: Any) -> TypeGuard[Bounds]:
    """Say whether somebody may be excluded in a world."""
    return isinstance(bounds, Bounds) and bounds.exclusions > 0


def stated(properties: Sequence[Property]) -> tuple[Property, ...]:
    """List the properties that RRefViews.tla states."""
    return tuple(one for one in properties if one.id in STATED)


def refusal(bounds: Bounds, rules: RRefRules) -> str | None:
    """Say why TLC cannot check a world with views; None if it can."""
    if bounds.rrefs > 1 or bounds.workers > len(USERS) + 1:
        return f"RRefViews.tla has one RRef and at most {len(USERS) + 1} workers"
    if any(not getattr(rules, name) for name in RULES if name not in OF_VIEWS) or len(_without(rules)) > 1:
        return "RRefViews.tla can do without one rule of R35 to R46 at a time, and without no other"
    return next((said for name, said in ABSENT.items() if getattr(bounds, name)), None)


def world_of(bounds: Bounds, rules: RRefRules) -> ViewWorld:
    """Give the world of RRefViews.tla that has these bounds and rules."""
    return ViewWorld(
        users=bounds.workers - 1 - bounds.joins,
        joiners=bounds.joins,
        forks=bounds.forks,
        views=bounds.exclusions,
        drops=bounds.drops,
        copies=bounds.duplicates,
        fetches=bounds.fetches,
        results=bounds.results,
        owner_shares=bounds.owner_shares,
        owner_is_losable=bounds.lost_owners,
        without=next(iter(_without(rules)), ""),
    )


def _without(rules: RRefRules) -> list[str]:
    return [name for name in OF_VIEWS if not getattr(rules, name)]


def check(
    bounds: Bounds,
    rules: RRefRules,
    properties: Sequence[Property],
    *,
    budget: Budget = Budget(),  # noqa: B008 (frozen)
    on_progress: OnProgress | None = None,
) -> Result:
    """Have TLC search a world with views for the first violation of what RRefViews.tla states."""
    if why := refusal(bounds, rules):
        raise TlcUnavailable(why)
    known, worlds = stated(properties), (world_of(bounds, rules),)
    if not known:
        raise TlcUnavailable(f"RRefViews.tla states {', '.join(STATED)} and nothing else")
    run = Run("tlc", RRefModel(bounds, rules), known, budget, on_progress)
    listener = Listener(run)
    config = render_config(worlds, [STATED[one.id] for one in known])
    usage = run_tlc(config, listener, module=MODULE, files={"ViewWorlds.tla": worlds_module(worlds)})
    if listener.broken is None and not run.complete and not run.is_spent(run.depth):
        raise TlcFailed("TLC ended without a verdict:\n" + "".join(listener.said))
    spent = usage.ru_utime + usage.ru_stime
    return replace(_found(listener), cpu_seconds=spent, peak_mb=peak_mb(usage), coverage={})


def _found(listener: Listener) -> Result:
    """Close the books. TLC's own steps are no run of the model, so there is none to show."""
    result = listener.run.result()
    notes = (f"of R46 RRefViews.tla states {', '.join(STATED)}", listener.version)
    if listener.broken is None:
        return replace(result, notes=(*result.notes, *notes))
    broken = next(name for name, operator in STATED.items() if operator == listener.broken)
    steps = len(listener.trace) - 1
    taken = f"{steps} step{'' if steps == 1 else 's'} of its own"
    told = f"TLC breaks {broken} in {taken}; --engine fast shows a run of the model"
    verdicts = {**result.verdicts, broken: Verdict.VIOLATED}
    return replace(result, verdict=Verdict.VIOLATED, verdicts=verdicts, notes=(*result.notes, told, *notes))
