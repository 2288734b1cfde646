"""Model and implementation take every step of random schedules together, in either protocol, and agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from farref.model.autograd import rules as autograd
from farref.model.rref import rules as rref
from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backend import Backend
from farref.properties.twin.backends.autograd.simulated import SimulatedAutograd
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.backends.rref.simulated import SimulatedBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.shrink import shrink
from farref.properties.twin.tally import Tally

TWINS: Final[dict[str, tuple[Callable[[], Backend], int]]] = {
    "rref": (SimulatedBackend, 300),
    "autograd": (SimulatedAutograd, 400),
}
"""The implementation beside each model, and how many schedules it takes until everything has happened."""


SECONDS_MAX: Final = 120.0

LOSING: Final[dict[str, dict[str, int]]] = {
    "rref": {"workers": 3, "exclusions": 1, "cuts": 1},
    "autograd": {"workers": 3, "exclusions": 1, "cuts": 1, "crashes": 0, "release": 1},
}
"""Worlds in which the rules about members matter."""

DECIDED_BY_SCHEDULES: Final = (
    "settles_what_came_from_the_excluded",
    "everybody_settles",
    "same_view",
    "waits_until_settled",
)
"""Rules that say when a view may be settled or buried. A schedule has these steps only where they are right, so no backend can
be wrong about them here. The checker shows that they are needed; `farref crashes` finds a worker that does otherwise."""


@pytest.fixture(scope="module", params=TWINS)
def tally(request: pytest.FixtureRequest) -> Tally:
    backend, schedules = TWINS[request.param]
    return campaign(backend, seed=2024, schedules_max=schedules)


def test_the_implementation_agrees_on_every_step(tally: Tally) -> None:
    assert tally.disagreement is None, str(tally.disagreement)
    assert tally.schedules == TWINS[tally.protocol.name][1]
    assert tally.steps > tally.schedules * 10


def test_every_fault_happens_and_every_situation_is_reached(tally: Tally) -> None:
    assert tally.never_fired == []
    assert [name for name, reached in tally.sometimes.items() if not reached] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_model_agrees_with_itself(protocol: str) -> None:
    assert campaign(ModelBackend, seed=1, schedules_max=50, protocol=protocol).disagreement is None


@pytest.mark.parametrize(
    ("protocol", "rule"),
    [(one, rule) for one in PROTOCOLS for rule in PROTOCOLS[one].rules if rule not in DECIDED_BY_SCHEDULES],
)
def test_a_backend_without_a_rule_is_caught(protocol: str, rule: str) -> None:
    rules = PROTOCOLS[protocol].rules_of("sound", rule)
    assert rules != PROTOCOLS[protocol].sound
    found = campaign(
        lambda: ModelBackend(rules),
        seed=1,
        seconds_max=SECONDS_MAX,
        protocol=protocol,
        fixed=LOSING[protocol] if rule in (*rref.OF_MEMBERS, *autograd.OF_MEMBERS) else {},
    ).disagreement
    assert found is not None
    assert shrink(found, ModelBackend(rules)).lines
