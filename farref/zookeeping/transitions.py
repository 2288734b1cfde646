"""Which transitions of real processes were seen and found right: for each action of the models, how many.

No single campaign draws every action. So several take turns, and the page names each: what they hold fixed, and how far they
came. Together they draw whatever happens in some world of the portfolio.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Final

from farref.model.autograd.world import Bounds as AutogradBounds
from farref.properties.protocol import AnyProtocol
from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backend import Backend
from farref.zookeeping.driven import PROCESSES, SEED
from farref.zookeeping.visiting import flags, flags_of, steps


@dataclass
class Campaign:
    """Schedules with something fixed, and how many there were."""

    about: str
    fixed: dict[str, Any] = field(default_factory=dict)
    world: Any = None
    """A world that no schedule draws; only the temperaments are drawn then."""
    schedules: int = 0
    steps: int = 0

    def take(self, about: AnyProtocol, backend: Backend) -> list[str]:
        """Take the next schedule to its end; list the kinds of action that both took alike."""
        taken = [kind for kind, _ in steps(about, backend, self.schedules, self.fixed, self.world) if kind]
        self.schedules += 1
        self.steps += len(taken)
        return taken

    def command(self, protocol: str) -> str:
        """Say what draws the same schedules, or the same world."""
        if self.world is not None:
            return f"farref check {protocol} {flags(self.world)}"
        return f"farref fuzz {protocol} --backend processes --seed {SEED} {flags_of(self.fixed)}".rstrip()


def campaigns(protocol: str) -> list[Campaign]:
    """Give the campaigns of a protocol, none of them begun."""
    return [Campaign(**one) for one in DRAWN[protocol]]


DRAWN: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "rref": (
        {"about": "as schedules are drawn"},
        {"about": "a worker is excluded, and may come back", "fixed": {"exclusions": 1, "joins": 1, "workers": 3}},
        {"about": "an owner may be excluded too", "fixed": {"exclusions": 1, "lost_owners": True}},
        {"about": "a link breaks", "fixed": {"cuts": 1}},
    ),
    "autograd": (
        {"about": "as programs are drawn"},
        {"about": "a worker is excluded, and a link breaks", "fixed": {"exclusions": 1, "cuts": 1}},
        {
            "about": "what is rarely sent is lost and copied",
            "fixed": {"drops": 5, "duplicates": 5, "smart": True, "forward": True, "release": True},
        },
        {
            "about": "the choice of the program is a step, where `farref fuzz` makes it before the first one",
            "world": AutogradBounds(workers=2, pairs=1, passes=2, timeouts=1, failures=1),
        },
    ),
}
"""The campaigns of each protocol."""


def transitions(marks: Sequence[float], say: Callable[[str], None]) -> dict[str, Any]:
    """Count for each action of the models how many transitions of real processes were seen, and agreed with the model."""
    return {name: _transitions(about, max(marks), say) for name, about in PROTOCOLS.items()}


def _transitions(about: AnyProtocol, seconds_max: float, say: Callable[[str], None]) -> dict[str, Any]:
    seen: Counter[str] = Counter(dict.fromkeys(kinds(about), 0))
    begin, drawn = time.monotonic(), campaigns(about.name)
    with closing(PROCESSES[about.name]()) as backend:
        for number, campaign in enumerate(cycle(drawn)):
            if time.monotonic() - begin >= seconds_max:
                break
            say(f"transitions of {about.name}: {number} schedules, {seen.total():,} steps")
            seen.update(campaign.take(about, backend))
    held = [
        {"about": one.about, "command": one.command(about.name), "schedules": one.schedules, "steps": one.steps}
        for one in drawn
    ]
    return {"campaigns": held, "actions": dict(sorted(seen.items()))}


def kinds(about: AnyProtocol) -> list[str]:
    """List every kind of action that some world of the portfolio has."""
    models = [about.model(one.bounds, about.profiles["sound"]) for one in about.portfolio]
    return sorted({action.kind for model in models for action in model.actions})
