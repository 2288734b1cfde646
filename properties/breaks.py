"""What is told of a link that breaks while both ends live, in both protocols."""

from __future__ import annotations

from farref.model.autograd.rules import AutogradRules
from farref.model.rref.rules import RRefRules


def what_a_break_does(rules: RRefRules | AutogradRules) -> str:
    """Say what rules do to a broken link that they should not. By the sound ones nothing happens."""
    if not rules.only_views_declare_dead:
        return ", and each takes the other for dead"
    if not rules.sends_again_after_a_break:
        return "; calls on it are lost"
    return "" if rules.takes_calls_once else "; calls that were taken over it come again"
