"""What happens to workers, in English, and what follows from it: shutdown, broken links and views."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from farref.model.actions import Cut, Exclude, Install, Mend
from farref.model.ids import worker_name
from farref.model.rref.actions import Bury, Join, OnView, Reclaim, Settle, Shutdown
from farref.model.rref.ids import ForkId
from farref.model.rref.owner import Entry
from farref.model.rref.user import Fetch, Handle, User
from farref.properties.breaks import what_a_break_does
from farref.properties.rref.replay import RRefMoment


def happens_to_members(action: Shutdown | Cut | Mend | OnView, moment: RRefMoment) -> str:
    """Tell what happens in a step that is about no RRef."""
    match action:
        case Shutdown():
            return "every worker calls shutdown(): nothing new is begun"
        case Cut(one, other):
            ends = what_a_break_does(moment.model.rules)
            return f"the link between {worker_name(one)} and {worker_name(other)} breaks{ends}"
        case Mend(one, other):
            return f"the link between {worker_name(one)} and {worker_name(other)} is mended"
        case Exclude(worker):
            return f"the authority excludes {worker_name(worker)}, in view {moment.after.views.issued}"
        case Install(worker):
            view = moment.after.views.installed[worker]
            return f"{worker_name(worker)} installs view {view}: it takes nothing from those excluded in it any more"
        case Settle(worker, view):
            return f"{worker_name(worker)} tells the authority that it has settled view {view}"
        case Bury(view):
            return f"the authority buries view {view}"
        case Reclaim(worker):
            view = moment.after.views.told[worker]
            return f"{worker_name(worker)} learns that view {view} is buried"
        case Join(worker):
            return f"{worker_name(worker)} joins, a new incarnation of somebody excluded"
        case _:
            assert_never(action)


def follows_among_members(moment: RRefMoment) -> Iterator[str]:
    """Tell what ends with an error as somebody is lost, what is let go, and what is given up without a word to anybody."""
    for rref, (old, new) in enumerate(zip(moment.before.owners, moment.after.owners, strict=True)):
        yield from (f"f{fork} no longer counts" for fork in old.forks.members() if fork not in new.forks)
        yield from (f"f{fork} counts" for fork in new.forks.members() if fork not in old.forks)
        if new.phase is Entry.READY and old.phase is not Entry.READY:
            yield f"x{rref} has an error in place of its value"
        if new.phase is Entry.GONE and old.phase is not Entry.GONE:
            yield f"the entry of x{rref} goes"
    for fork in map(ForkId, range(moment.model.bounds.forks_total)):
        if moment.before.users[fork] != moment.after.users[fork]:
            yield from _of_user(moment, fork)


def _of_user(moment: RRefMoment, fork: ForkId) -> Iterator[str]:
    before, after, holder = moment.before.users[fork], moment.after.users[fork], moment.holder(fork)
    if before.handle is Handle.PARKED and after.handle is Handle.NONE:
        yield f"the call on {holder} that waited for f{fork} does not run"
    if before.fetch is Fetch.WAITING and after.fetch is Fetch.NONE:
        yield f"the fetch of f{fork} on {holder} ends with an error"
    yield from (
        f"f{fork} no longer waits for f{child}"
        for child in before.children.members()
        if child not in after.children and isinstance(moment.action, Install | Reclaim)
    )
    if before.phase is not User.ABSENT and after.phase is User.ABSENT:
        told = "and tells the owner" if moment.sent else "and tells nobody"
        yield f"{holder} gives f{fork} up, {told}"
