"""The rules of distributed autograd, by the names of the model, and why some of them are no matter of these theorems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Rules = Mapping[str, bool]

RULES: Final = (
    "sender_decides_pairing",
    "one_pass_at_a_time",
    "passes_have_identity",
    "newer_pass_supersedes",
    "takes_effect_once",
    "retries_until_answered",
    "notices_standstill",
    "marks_before_pruning",
    "stages_until_commit",
    "returns_after_commit",
    "decision_is_final",
    "aborts_everywhere",
    "answers_latecomers",
    "release_ends_passes",
    "forgets_when_drained",
)

SILENT: Final = {
    "sender_decides_pairing": "what is recorded is given here, not made",
    "one_pass_at_a_time": "passes of several roots are independent here; none is refused",
    "newer_pass_supersedes": "it is for passes to end, and only safety is proved",
    "takes_effect_once": "a message arrives once here; `farref prove window` is about copies",
    "retries_until_answered": "safety needs no message to arrive",
    "marks_before_pruning": "which gradients are due is given here, not found",
    "aborts_everywhere": "it is for passes to end, and only safety is proved",
    "answers_latecomers": "it is for passes to end, and only safety is proved",
    "release_ends_passes": "passes and releases are proved apart from each other",
}
"""The rules that no theorem here speaks of, and why."""
