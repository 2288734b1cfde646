"""The protocol of remote references, as commands and campaigns see it."""

from __future__ import annotations

from typing import Final

from farref.model.ids import worker_name
from farref.model.rref.actions import Action
from farref.model.rref.ids import RRefId
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import PROFILES
from farref.model.rref.world import Bounds, World
from farref.properties.proof.link.judge import ProvedClauses
from farref.properties.protocol import Protocol
from farref.properties.rref import limits, schedules, twin
from farref.properties.rref.always import rref_properties
from farref.properties.rref.candidates import RRefCandidates
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.consequences import consequences
from farref.properties.rref.gaps import GAPS
from farref.properties.rref.meaning import MEANINGS
from farref.properties.rref.observation import Observation, lines
from farref.properties.rref.observer import ModelObserver
from farref.properties.rref.portfolio import PORTFOLIO
from farref.properties.rref.replay import RRefMoment, familiar
from farref.properties.rref.smaller import smaller
from farref.properties.rref.sometimes import rref_witnesses
from farref.properties.rref.story import happens
from farref.properties.rref.touched import touched
from farref.properties.rref.visible import ModelTruth, visible


def owners(bounds: Bounds) -> dict[str, tuple[str, ...]]:
    """Give the workers' names, each with the RRefs it owns."""
    owned = {worker: list[str]() for worker in bounds.worker_ids}
    for rref in map(RRefId, range(bounds.rrefs)):
        owned[bounds.owner(rref)].append(f"x{rref}")
    return {worker_name(worker): tuple(rrefs) for worker, rrefs in owned.items()}


RREF: Final = Protocol[Bounds, World, Action, Observation](
    name="rref",
    spec="rref.md",
    bounds=Bounds,
    broadest=Bounds(exclusions=1, shutdown=True),
    said_always=("workers", "rrefs", "forks", "drops", "duplicates"),
    limits=limits.LIMITS,
    complaint=limits.complaint,
    profiles=PROFILES,
    model=RRefModel,
    properties=rref_properties,
    witnesses=rref_witnesses,
    claims=CLAIMS,
    gaps=GAPS,
    portfolio=PORTFOLIO,
    moment=RRefMoment,
    happens=happens,
    consequences=consequences,
    meanings=MEANINGS,
    owners=owners,
    familiar=familiar,
    faults=twin.FAULTS,
    needs=twin.NEEDS,
    situations=rref_witnesses,
    everything=Bounds(drops=1, duplicates=1, timeouts=1, fetches=1, failures=1, results=True, shutdown=True),
    draw_bounds=schedules.draw_bounds,
    unfit=schedules.unfit,
    temperaments=schedules.TEMPERAMENTS,
    candidates=RRefCandidates,
    smaller=smaller,
    observer=ModelObserver,
    lines=lines,
    prompt=twin.prompt,
    forbidden=twin.forbidden,
    touched=touched,
    proved=ProvedClauses,
    truth=ModelTruth,
    visible=visible,
    left=twin.left,
)
