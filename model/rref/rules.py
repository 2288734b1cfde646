"""The disputed points of the RRef protocol, as values (`farref.model.rules` says what a rule is).

Each rule is a clause of `spec/rref.md` that could have been decided otherwise. `SOUND` follows them all, and `TORCH` those
that PyTorch 2.13 follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farref.model.rules import Rules, rule


@dataclass(frozen=True)
class RRefRules(Rules):
    """Which rules are followed. Every field is one rule, on in SOUND."""

    registers_on_receipt: bool = rule(
        "R10", "the owner registers a creation when the call arrives, not when its function ends"
    )
    registers_atomically: bool = rule("R11", "the owner makes the entry and registers the creator's fork in one step")
    entry_waits_for_creation: bool = rule("R21", "an entry named before its creation arrived is kept until it arrives")
    entry_counts_local_references: bool = rule("R22", "an entry is kept while code on the owner uses it")
    owner_registers_shares: bool = rule("R14", "the owner registers a fork before it sends it")
    confirms_forks_from_owner: bool = rule("R15", "a fork received from the owner is confirmed")
    accepts_after_confirmation: bool = rule(
        "R17", "a child accepts towards its parent only after the owner has registered it"
    )
    accepts_before_user_code: bool = rule(
        "R18", "a child accepts towards its parent before the function that received it runs"
    )
    parent_waits_for_children: bool = rule("R24", "a user is deleted only after all its children have accepted")
    user_waits_for_confirmation: bool = rule("R25", "a user is deleted only after the owner has registered it")
    fetch_pins_user: bool = rule(
        "R20", "a user is deleted only after its fetch was answered, even if nobody waits any more"
    )
    timeout_is_only_an_answer: bool = rule("R27", "a timeout is told to the application and changes no count")
    withdraws_failed_shares: bool = rule("R28", "a fork whose message could not be sent or understood is withdrawn")
    fails_creation_as_error: bool = rule("R29", "a creation that could not be sent is created as an error")
    processes_once: bool = rule("R7", "a control message takes effect once, however often it arrives")
    retries_until_answered: bool = rule("R6", "a control message is sent again until it is answered")
    refuses_the_excluded: bool = rule("R37", "whoever has installed a view takes nothing from those excluded in it")
    fails_creation_of_the_excluded: bool = rule(
        "R37", "a creation that cannot arrive, as its creator is excluded, is an error, and its creator counts"
    )
    settles_what_came_from_the_excluded: bool = rule(
        "R39", "a view is settled only by a worker that has no uncounted fork from somebody excluded in it"
    )
    everybody_settles: bool = rule("R40", "a view is buried when all its members have settled it, not one of them")
    same_view: bool = rule("R40", "among them are members that were excluded since then")
    waits_until_settled: bool = rule("R41", "what somebody excluded held is kept until the view is settled")
    children_wait_too: bool = rule("R42", "a parent keeps a child of somebody excluded as long")
    only_views_declare_dead: bool = rule("R36", "a broken link is no death: only a view declares a worker dead")
    sends_again_after_a_break: bool = rule("R3", "what a broken link held up is sent again when the link is mended")
    takes_calls_once: bool = rule("R3", "a call that was taken before a link broke is not taken again afterwards")


SOUND: Final = RRefRules()

TORCH: Final = RRefRules(
    registers_on_receipt=False,
    registers_atomically=False,
    entry_waits_for_creation=False,
    confirms_forks_from_owner=False,
    accepts_before_user_code=False,
    fetch_pins_user=False,
    timeout_is_only_an_answer=False,
    withdraws_failed_shares=False,
    fails_creation_as_error=False,
    processes_once=False,
    retries_until_answered=False,
)
"""What PyTorch 2.13 does; `spec/differences.md` has the evidence for each rule that is off."""

PROFILES: Final = {"sound": SOUND, "torch": TORCH}
RULES: Final = RRefRules.names()
OF_LINKS: Final = ("only_views_declare_dead", "sends_again_after_a_break", "takes_calls_once")
"""The rules that have something to say only where a link breaks while both ends live."""
OF_VIEWS: Final = tuple(name for name in RULES if int(RRefRules.clause_of(name)[1:]) >= 35 and name not in OF_LINKS)
"""The rules that have something to say only where somebody is excluded (R35 to R46). PyTorch excludes nobody."""
OF_MEMBERS: Final = (*OF_VIEWS, *OF_LINKS)
"""The rules of both kinds."""
