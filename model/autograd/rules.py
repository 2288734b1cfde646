"""The disputed points of distributed autograd, as values (`farref.model.rules` says what a rule is).

Each rule is a clause of `spec/autograd.md` that could have been decided otherwise. `SOUND` follows them all, and `TORCH`
what PyTorch 2.13 does: of the rules that it could follow, none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.model.rules import Rules, rule


@dataclass(frozen=True)
class AutogradRules(Rules):
    """Which rules are followed. Every field is one rule, on in SOUND."""

    sender_decides_pairing: bool = rule("A7", "the sender of tensors decides whether both ends are recorded")
    one_pass_at_a_time: bool = rule("A10", "a worker that is in a pass refuses one of another root")
    passes_have_identity: bool = rule("A12", "what belongs to a pass carries the pass's id")
    newer_pass_supersedes: bool = rule("A12", "a newer pass of the same root takes the place of an older one")
    takes_effect_once: bool = rule("A3", "a control message takes effect once, however often it arrives")
    retries_until_answered: bool = rule("A3", "a control message is sent again until it is answered")
    notices_standstill: bool = rule("A14", "the root knows when nothing of a pass is under way any more")
    marks_before_pruning: bool = rule("A16", "no send is given up before every send that gets a gradient is marked")
    stages_until_commit: bool = rule("A17", "gradients are kept aside until the whole pass has ended well")
    returns_after_commit: bool = rule("A17", "backward returns when every worker shows its gradients")
    decision_is_final: bool = rule("A20", "a timeout that comes after the decision changes nothing")
    aborts_everywhere: bool = rule("A18", "a pass that failed is ended on every worker that takes part")
    answers_latecomers: bool = rule("A19", "a worker that reports on a pass that is over is told so")
    release_ends_passes: bool = rule("A24", "a worker that closes its context leaves the pass it is in")
    forgets_when_drained: bool = rule("A25", "a released id is forgotten when nothing of it is under way any more")
    sends_again_after_a_break: bool = rule(
        "A3", "a call that a broken link held up is sent again when the link is mended"
    )
    takes_calls_once: bool = rule("A3", "a call that was taken before a link broke is not taken again afterwards")
    only_views_declare_dead: bool = rule("A29", "a broken link is no death: only a view declares a worker dead")
    refuses_the_excluded: bool = rule("A29", "whoever has installed a view takes nothing from those excluded in it")
    keeps_the_id_until_unheard: bool = rule(
        "A29", "an id is kept until its worker has excluded everybody whom the creator has excluded"
    )
    raises_when_excluded: bool = rule(
        "A29", "a root that learns that it is excluded raises, and counts nobody as committed"
    )


SOUND: Final = AutogradRules()

OF_MEMBERS: Final = (
    *("sends_again_after_a_break", "takes_calls_once", "only_views_declare_dead"),
    *("refuses_the_excluded", "keeps_the_id_until_unheard", "raises_when_excluded"),
)
"""The rules that have something to say only where a link breaks or somebody is excluded. PyTorch excludes nobody."""

RULES: Final = AutogradRules.names()

TORCH: Final = SOUND.without(*(name for name in RULES if name not in OF_MEMBERS))
"""What PyTorch 2.13 does: of the others it follows none. `spec/autograd.md` has the evidence."""

PROFILES: Final = {"sound": SOUND, "torch": TORCH}
