"""The protocol of distributed autograd, as commands and campaigns see it."""

from __future__ import annotations

from typing import Final

from farref.model.autograd.actions import Action
from farref.model.autograd.model import AutogradModel
from farref.model.autograd.rules import PROFILES
from farref.model.autograd.world import Bounds, World
from farref.model.ids import worker_name
from farref.properties.autograd import limits, schedules, twin
from farref.properties.autograd.always import autograd_properties
from farref.properties.autograd.candidates import AutogradCandidates
from farref.properties.autograd.claims import CLAIMS
from farref.properties.autograd.consequences import consequences
from farref.properties.autograd.gaps import GAPS
from farref.properties.autograd.meaning import MEANINGS
from farref.properties.autograd.observation import Observation, lines
from farref.properties.autograd.observer import ModelObserver
from farref.properties.autograd.portfolio import PORTFOLIO
from farref.properties.autograd.replay import AutogradMoment, familiar
from farref.properties.autograd.smaller import smaller
from farref.properties.autograd.sometimes import autograd_situations, autograd_witnesses
from farref.properties.autograd.story import happens
from farref.properties.autograd.touched import touched
from farref.properties.autograd.visible import model_truth, visible
from farref.properties.protocol import Protocol, unjudged


def owners(bounds: Bounds) -> dict[str, tuple[str, ...]]:
    """Give the workers' names. Nobody owns anything."""
    return {worker_name(worker): () for worker in bounds.worker_ids}


AUTOGRAD: Final = Protocol[Bounds, World, Action, Observation](
    name="autograd",
    spec="autograd.md",
    bounds=Bounds,
    broadest=Bounds(passes=2),
    said_always=("graph", "passes"),
    limits=limits.LIMITS,
    complaint=limits.complaint,
    profiles=PROFILES,
    model=AutogradModel,
    properties=autograd_properties,
    witnesses=autograd_witnesses,
    claims=CLAIMS,
    gaps=GAPS,
    portfolio=PORTFOLIO,
    moment=AutogradMoment,
    happens=happens,
    consequences=consequences,
    meanings=MEANINGS,
    owners=owners,
    familiar=familiar,
    faults=twin.FAULTS,
    needs=twin.NEEDS,
    situations=autograd_situations,
    everything=Bounds("relay", smart=True, forward=True, release=True),
    draw_bounds=schedules.draw_bounds,
    unfit=schedules.unfit,
    temperaments=schedules.TEMPERAMENTS,
    candidates=AutogradCandidates,
    smaller=smaller,
    observer=ModelObserver,
    lines=lines,
    prompt=twin.prompt,
    forbidden=twin.forbidden,
    touched=touched,
    proved=lambda _: unjudged,  # of its proof only the steps are compared with the model (`proof/link`)
    truth=model_truth,
    visible=visible,
    left=twin.left,
)
