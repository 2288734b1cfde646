"""What can be proved: each subject with its theorems, and its rules with what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from farref.properties.proof import window
from farref.properties.proof.autograd import rules
from farref.properties.proof.autograd.ending import ENDING
from farref.properties.proof.autograd.exits_invariant import SUMS
from farref.properties.proof.autograd.passes_invariant import COMMIT
from farref.properties.proof.autograd.release_invariant import FORGET
from farref.properties.proof.induction.theory import Theorem
from farref.properties.proof.rref.liveness import LIVENESS
from farref.properties.proof.rref.rules import RULES
from farref.properties.proof.rref.safety import SAFETY
from farref.properties.proof.views.quiet import QUIET
from farref.properties.proof.views.rules import RULES as VIEW_RULES
from farref.properties.proof.views.safety import RECLAIMING
from farref.properties.proof.window import ONCE


@dataclass(frozen=True)
class Subject:
    """Something that theorems are about."""

    name: str
    text: str
    theorems: tuple[Theorem, ...]
    rules: tuple[str, ...]
    silent: Mapping[str, str] = field(default_factory=dict)
    """The rules that no theorem here speaks of, and why."""

    @property
    def sound(self) -> dict[str, bool]:
        """All rules, followed."""
        return dict.fromkeys(self.rules, True)

    def without(self, rule: str) -> dict[str, bool]:
        """All rules but one."""
        return {**self.sound, rule: False}


RREF: Final = Subject(
    "rref",
    "any number of RRefs, forks, messages, losses, copies, timeouts and failures.",
    (SAFETY, LIVENESS),
    RULES,
)

WINDOW: Final = Subject(
    "window",
    "one channel of control messages: any number of messages, losses and copies, and a window of any size.",
    (ONCE,),
    window.RULES,
    {"retries_until_answered": "that nothing happens twice needs no message to arrive"},
)

AUTOGRAD: Final = Subject(
    "autograd",
    "backward passes and contexts: any number of passes, workers, pairs, messages and calls.",
    (COMMIT, ENDING, SUMS, FORGET),
    rules.RULES,
    rules.SILENT,
)

VIEWS: Final = Subject(
    "views",
    "members that are excluded, rightly or not: any number of workers and views, and of RRefs, forks, messages and faults.",
    (RECLAIMING, QUIET),
    VIEW_RULES,
)

SUBJECTS: Final = {one.name: one for one in (RREF, WINDOW, AUTOGRAD, VIEWS)}
