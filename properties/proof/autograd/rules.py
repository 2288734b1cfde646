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
    "sender_decides_pairing": "what is recorded is given here, not made; a gradient without a send ends its pass either way",
    "newer_pass_supersedes": "without it a new pass is refused, and fails for no reason of its own (L6)",
    "retries_until_answered": "what is lost counts as under way here, and the theorems suppose that it arrives",
    "release_ends_passes": "passes and releases are proved apart from each other",
}
"""The rules that no theorem here speaks of, and why."""
