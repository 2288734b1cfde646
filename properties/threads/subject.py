"""The threads of a worker, as `farref check` sees them."""

from __future__ import annotations

from typing import Final

from farref.model.threads.actions import Action
from farref.model.threads.model import ThreadModel
from farref.model.threads.rules import PROFILES
from farref.model.threads.world import Bounds, World
from farref.properties.protocol import Subject
from farref.properties.threads import limits
from farref.properties.threads.always import thread_properties
from farref.properties.threads.families import thread_name
from farref.properties.threads.meaning import MEANINGS
from farref.properties.threads.portfolio import ONE_CALL, PORTFOLIO
from farref.properties.threads.replay import ThreadMoment, familiar
from farref.properties.threads.sometimes import thread_witnesses
from farref.properties.threads.story import consequences, happens


def threads_of(bounds: Bounds) -> dict[str, tuple[str, ...]]:
    """Give the threads' names."""
    return {thread_name(one, bounds): () for one in (*bounds.caller_ids, *bounds.background_ids)}


THREADS: Final = Subject[Bounds, World, Action](
    name="threads",
    spec="threads.md",
    bounds=Bounds,
    broadest=ONE_CALL,
    said_always=("callers", "background", "frames", "tasks"),
    limits=limits.LIMITS,
    complaint=limits.complaint,
    profiles=PROFILES,
    model=ThreadModel,
    properties=thread_properties,
    witnesses=thread_witnesses,
    claims={},
    gaps={},
    portfolio=PORTFOLIO,
    moment=ThreadMoment,
    happens=happens,
    consequences=consequences,
    meanings=MEANINGS,
    owners=threads_of,
    familiar=familiar,
)
