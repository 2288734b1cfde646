"""What follows from a step, told from the difference between the worlds before and after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, assert_never

from farref.model.actions import Deliver, DropMessage, Duplicate, OnMessage
from farref.model.rref import owner as own
from farref.model.rref import user as use
from farref.model.rref.actions import FinishFunction, LetGo, TimeOutCreation
from farref.model.rref.ids import ForkId, RRefId
from farref.model.rref.messages import (
    CONTROL,
    Ack,
    CallFailed,
    ChildAccept,
    CreateFailed,
    FetchCall,
    FetchReturn,
    ForkRequest,
    Message,
    RemoteFailed,
    UserAccept,
    UserDelete,
)
from farref.model.rref.network import is_flying, is_unanswered, was_processed
from farref.model.rref.owner import Entry, OwnerRRef, is_listed
from farref.model.rref.refusals import is_unheard
from farref.model.rref.steps import step
from farref.model.rref.user import Fetch, Handle, User, UserRRef
from farref.model.rref.world import World
from farref.properties.rref.always import is_travelling
from farref.properties.rref.members.story import follows_among_members
from farref.properties.rref.replay import RRefMoment

HEEDED: Final = ("entry_waits_for_creation", "entry_counts_local_references", *(need.value for need in use.Need))
"""The rules that keep an entry or a user."""


def consequences(moment: RRefMoment) -> Iterator[str]:
    """List what follows from a step, each as a clause of its sentence."""
    rref = moment.rref
    if rref is None:
        yield from follows_among_members(moment)
        return
    if is_unheard(moment.before, moment.action, moment.model.bounds, moment.model.rules):
        yield f"{moment.worker} refuses it, as its sender is excluded"
        return
    yield from _remarks(moment)
    yield from _at_owner(moment, rref)
    for fork in map(ForkId, range(moment.model.bounds.forks_total)):
        if moment.before.users[fork] != moment.after.users[fork]:
            yield from _at_user(moment, fork)
    yield from _tells(moment)


# -- on the owner ------------------------------------------------------------------------------------------------------


def _at_owner(moment: RRefMoment, rref: RRefId) -> Iterator[str]:
    before, after = moment.before.owners[rref], moment.after.owners[rref]
    owner = moment.owner(rref)
    if isinstance(moment.action, Deliver) and after.running and not before.running:
        late = "" if moment.model.rules.registers_on_receipt else ", and registers nothing until it ends"
        yield f"{owner} runs the function{late}"
    yield from _entry_changes(moment, rref, before, after)
    for fork in after.forks.members():
        if fork not in before.forks:
            yield f"{owner} counts f{fork}"
    for fork in before.forks.members():
        if fork not in after.forks:
            yield f"{owner} no longer counts f{fork}"
    if after.waiting and not before.waiting:
        yield f"the code on {owner} that received it waits for the value"
    if before.waiting and after.phase is Entry.READY:
        yield f"the code on {owner} that waited for the value gets {'that' if _is_error(moment) else 'it'}"
    if after.phase is Entry.GONE and before.phase is not Entry.GONE:
        yield f"{owner} drops its entry of x{rref}{_although(moment, rref, before)}"


def _entry_changes(moment: RRefMoment, rref: RRefId, before: OwnerRRef, after: OwnerRRef) -> Iterator[str]:
    if before.phase is after.phase or after.phase is Entry.GONE:
        return
    owner = moment.owner(rref)
    if after.duplicated and not before.duplicated:
        yield f"{owner} makes a second entry for x{rref}: it dropped the first one"
    elif after.phase is Entry.EXPECTED:
        why = "its function has not ended" if before.running else "its creation has not arrived"
        yield f"{why}, so {owner} makes an entry of x{rref} with no value and no forks"
    elif not is_listed(before) and not after.held:
        yield f"{owner} makes its entry of x{rref}"
    if after.phase is Entry.READY and is_listed(before):
        yield f"x{rref} has {'an error in place of its value' if _is_error(moment) else 'its value'}"


def _is_error(moment: RRefMoment) -> bool:
    return isinstance(moment.action, OnMessage) and isinstance(moment.action.message, CreateFailed)


def _although(moment: RRefMoment, rref: RRefId, before: OwnerRRef) -> str:
    """Name everyone who still needed an entry that goes."""
    needed = needed_by(moment, rref, _had_all_stayed(moment).owners[rref]._replace(fetches=before.fetches))
    return f", although {' and '.join(needed)}" if needed else ""


def needed_by(moment: RRefMoment, rref: RRefId, owner: OwnerRRef) -> list[str]:
    """Name everyone who needs the entry of an RRef after a step, where this is the owner's record of it."""
    at_owner = {
        own.Need.WAITER: f"code on {moment.owner(rref)} waits for its value",
        own.Need.HANDLE: f"code on {moment.owner(rref)} holds it",
        own.Need.FUNCTION: "the function that computes it runs",
    }
    needed = [at_owner[need] for need in own.needs(owner) if need in at_owner]
    for fork in map(ForkId, range(moment.model.bounds.forks_total)):
        if moment.model.bounds.rref_of(fork) == rref:
            needed += _needed_by_fork(moment, rref, fork, owner)
    return needed


def _needed_by_fork(moment: RRefMoment, rref: RRefId, fork: ForkId, owner: OwnerRRef) -> Iterator[str]:
    if fork in owner.fetches:
        yield f"the fetch of f{fork} waits for its value"
    if is_flying(moment.after.network, FetchCall(rref, fork)):
        yield f"the fetch of f{fork} is on its way"
    if moment.after.users[fork].phase is not User.ABSENT:
        yield f"{moment.holder(fork)}'s f{fork} lives"
    if is_travelling(moment.after, fork):
        yield f"f{fork} is on its way to {moment.holder(fork)}"


# -- at a user ---------------------------------------------------------------------------------------------------------


def _at_user(moment: RRefMoment, fork: ForkId) -> Iterator[str]:
    before, after = moment.before.users[fork], moment.after.users[fork]
    holder = moment.holder(fork)
    if before.phase is User.PENDING and after.phase is User.CONFIRMED:
        yield _confirmed(moment, fork)
    if before.phase is User.ABSENT and after.phase is not User.PENDING:
        yield _received_from_owner(moment, fork)
    if after.handle is Handle.PARKED:
        yield f"the call waits until f{fork} is confirmed"
    if before.handle is Handle.PARKED and after.handle is Handle.HELD:
        yield "the call that waited for it runs"
    if before.fetch is Fetch.ABANDONED and after.fetch is Fetch.NONE and after.phase is not User.ABSENT:
        yield f"nobody on {holder} waits for it any more"
    if isinstance(moment.action, LetGo) and after.phase is not User.ABSENT:
        reasons = _reasons(use.stays_for(after, moment.model.rules), after)
        yield f"{holder} keeps it, because {' and '.join(reasons)}"
    if after.phase is User.ABSENT:
        would_be = _had_all_stayed(moment).users[fork]
        needs = _reasons(use.needs(would_be), would_be)
        yield (
            f"{holder} deletes f{fork}, although {' and '.join(needs)}"
            if needs
            else f"nothing needs f{fork} any more, so {holder} deletes it"
        )


def _confirmed(moment: RRefMoment, fork: ForkId) -> str:
    if not isinstance(moment.action, TimeOutCreation):
        return f"f{fork} is confirmed"
    owner = moment.owner(moment.model.bounds.rref_of(fork))
    return f"it takes that for an answer, and f{fork} for confirmed, though {owner} has not said so"


def _received_from_owner(moment: RRefMoment, fork: ForkId) -> str:
    rref = moment.model.bounds.rref_of(fork)
    if fork not in moment.after.owners[rref].forks:
        return f"{moment.holder(fork)} takes f{fork} for counted, though {moment.owner(rref)} does not count it"
    is_told = moment.after.users[fork].phase is User.CONFIRMED
    return f"f{fork} is counted already{'' if is_told else ', but confirmed_by_owner() says no'}"


def _reasons(needs: Iterable[use.Need], user: UserRRef) -> list[str]:
    """Put into words what a user has to stay for."""
    reasons: list[str] = []
    for need in needs:
        match need:
            case use.Need.CONFIRMATION:
                reasons.append("it is not confirmed")
            case use.Need.CHILDREN:
                reasons += [f"f{child} has not accepted" for child in user.children.members()]
            case use.Need.FETCH:
                reasons.append("its fetch is not answered")
            case _:
                assert_never(need)
    return reasons


def _had_all_stayed(moment: RRefMoment) -> World:
    """Give the world after a step, if everything had stayed that there was a need for."""
    heedful = replace(moment.model.rules, **dict.fromkeys(HEEDED, True))
    world = step(moment.before, moment.action, moment.model.bounds, heedful)
    assert world is not None, "what stays does not keep a step from happening"
    return world


# -- where one might expect more ---------------------------------------------------------------------------------------


def _remarks(moment: RRefMoment) -> Iterator[str]:
    match moment.action:
        case Deliver(message) | Duplicate(message):
            yield from _on_receipt(moment, message)
        case DropMessage(message) if isinstance(message, CONTROL) and not moment.model.rules.retries_until_answered:
            yield "nobody sends it again"
        case FinishFunction(rref) if moment.before.owners[rref].phase is moment.after.owners[rref].phase:
            yield f"x{rref} was dropped while it ran, and the value goes with it"
        case _:
            return


def _on_receipt(moment: RRefMoment, message: Message) -> Iterator[str]:
    """Remark on a message that does not have the effect it asks for."""
    changed = (moment.before.owners, moment.before.users) != (moment.after.owners, moment.after.users)
    worker, owner = moment.worker, moment.after.owners[moment.model.bounds.rref_of(message.fork)]
    match message:
        case Ack(of) if not is_unanswered(moment.before.network, of):
            yield f"{worker} had an answer already"
        case CallFailed() | RemoteFailed() if not changed and not moment.sent:
            yield f"{worker} does nothing about it"
        case ForkRequest() | ChildAccept() | UserDelete() | CreateFailed() if was_processed(
            moment.before.network, message
        ):
            yield (
                f"{worker} lets it take effect once more"
                if changed
                else f"{worker} had it already, and changes nothing"
            )
        case UserDelete() if not changed:
            yield f"{worker} does not count f{message.fork}, and ignores it"
        case FetchCall() if message.fork in owner.fetches:
            yield f"{worker} has no {'such entry any more' if owner.phase is Entry.GONE else 'value yet'}, so the fetch waits"
        case _:
            return


# -- what is sent ------------------------------------------------------------------------------------------------------

_TOLD = (*CONTROL, UserAccept, FetchReturn)
"""The messages a handler sends by itself. The others are what the step itself is."""


def _tells(moment: RRefMoment) -> Iterator[str]:
    for sent in moment.sent:
        if isinstance(sent.message, Ack):
            yield f"{sent.source} acknowledges it"
        elif isinstance(sent.message, _TOLD):
            yield f"{sent.source} tells {sent.listener}: {sent.message}"
