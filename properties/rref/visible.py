"""What must always hold of RRefs, as sentences over what any implementation shows (`observation.py`).

The same properties are stated over the model's world in `always.py`. Here they are stated once more, for tables and messages
as an implementation shows them, and for what its applications know. Tables may be wrong: that somebody holds a handle, or
waits for a value, is for the application to say (`Truth`). No model is needed, so an implementation that runs by itself is
judged by the same sentences.

Two properties cannot be seen in one picture. Of P6, that a copy changes nothing, only what comes of it can be seen. Of P2, that
somebody was given another entry than everybody else, is seen as code that waits for an entry that is not there (P1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from farref.model.ids import worker_name
from farref.model.rref.ids import ForkId
from farref.model.rref.user import Fetch, Handle
from farref.model.rref.world import Bounds, World
from farref.properties.build import violated
from farref.properties.rref.observation import EntryView, Observation, UserView
from farref.properties.rref.truth import Truth
from farref.properties.violation import Violation


@dataclass(slots=True)
class Part:
    """All that can be seen of one RRef."""

    rref: str
    entry: EntryView | None = None
    is_dropped: bool = False
    users: dict[str, tuple[str, UserView]] = field(default_factory=dict)  # by fork: where it lives, and its record
    flying: set[tuple[str, str]] = field(default_factory=set)  # kind and fork
    unanswered: set[tuple[str, str]] = field(default_factory=set)
    counted: dict[str, str] = field(default_factory=dict)  # by fork: the holder it is counted for

    @property
    def is_listed(self) -> bool:
        """Say whether the owner has an entry."""
        return self.entry is not None and self.entry.value != "absent"

    def is_under_way(self, fork: str, *kinds: str) -> bool:
        """Say whether a message of one of these kinds is under way about a fork."""
        return any((kind, fork) in self.flying for kind in kinds)

    def is_unanswered(self, fork: str, *kinds: str) -> bool:
        """Say whether somebody waits for the answer to a control message of one of these kinds about a fork."""
        return any((kind, fork) in self.unanswered for kind in kinds)

    def is_travelling(self, fork: str) -> bool:
        """Say whether a fork is on its way to its holder."""
        return ("Call", fork) in self.flying or ("Return", fork) in self.flying

    def is_pending(self, fork: str) -> bool:
        """Say whether a fork's user lives, and does not know that it is counted."""
        return fork in self.users and self.users[fork][1].state == "pending"


# -- RRefs -------------------------------------------------------------------------------------------------------------


def no_entry_comes_back(part: Part, truth: Truth) -> bool:
    """P2: an RRef whose value was dropped has no entry any more."""
    del truth
    return not (part.is_dropped and part.is_listed)


def no_entry_goes_while_the_owner_uses_it(part: Part, truth: Truth) -> bool:
    """P1, on the owner: while code on the owner computes a value, holds the RRef or waits for the value, there is an entry."""
    rref = part.rref
    return part.is_listed or not (truth.holds(rref) or truth.waits(rref) or truth.computes(rref))


def the_owners_table_tells_the_truth(part: Part, truth: Truth) -> bool:
    """G3: code on the owner holds the RRef, or waits for its value, exactly if the owner's table says so."""
    entry = part.entry
    if entry is None:
        return True  # that there has to be one is P1
    return entry.held == truth.holds(part.rref) and entry.waiting == truth.waits(part.rref)


# -- forks -------------------------------------------------------------------------------------------------------------


def no_entry_goes_while_a_fork_lives(part: Part, fork: str, truth: Truth) -> bool:
    """P1: no value is dropped while somebody holds a fork of it, or it is on its way, or a fetch of it is under way."""
    if not part.is_dropped:
        return True
    needed = fork in part.users or part.is_travelling(fork) or ("FetchCall", fork) in part.flying
    return not needed and not truth.has(fork) and not truth.asks(fork)


def no_user_goes_while_it_is_held(part: Part, fork: str, truth: Truth) -> bool:
    """P1, of a user: no record goes while the application has its handle, or a fetch of it is under way."""
    if fork in part.users:
        return part.users[fork][0] == truth.holder_of(fork)
    return not (truth.has(fork) or truth.asks(fork) or truth.gave_up(fork))


def the_users_table_tells_the_truth(part: Part, fork: str, truth: Truth) -> bool:
    """G3, of users: a user has its handle, and waits for its value, exactly if its record says so."""
    if fork not in part.users:
        return True  # that there has to be one is P1
    user = part.users[fork][1]
    return (user.handle in ("held", "timed out")) == truth.has(fork) and (user.fetch == "waiting") == truth.asks(fork)


def a_fetch_is_answered_with_a_value(part: Part, fork: str, truth: Truth) -> bool:
    """P11: a fetch is answered only with a value, or an error in its place, which is kept until the answer arrives."""
    del truth
    return ("FetchReturn", fork) not in part.flying or (part.entry is not None and part.entry.value == "ready")


def every_counted_fork_is_accounted_for(part: Part, fork: str, truth: Truth) -> bool:
    """G1: every fork the owner counts lives with its holder, is on its way, or its deletion is being told."""
    if fork not in part.counted:
        return True
    if fork in part.users:
        return part.users[fork][0] == part.counted[fork] == truth.holder_of(fork)
    is_withdrawn = ("CallFailed", fork) in part.flying
    return is_withdrawn or part.is_travelling(fork) or ("UserDelete", fork) in part.unanswered


def no_parent_goes_before_its_child_is_counted(part: Part, fork: str, truth: Truth) -> bool:
    """G2: the parent of a child the owner does not count yet lives, and knows of the child."""
    parent = truth.parent_of(fork)
    if parent is None or not (part.is_pending(fork) or part.is_travelling(fork)):
        return True
    return _knows(part, parent, fork)


def counts_agree_when_nothing_is_under_way(part: Part, fork: str, truth: Truth) -> bool:
    """P10: when nothing is under way about a fork, the owner counts it exactly if its user lives."""
    del truth
    return (
        (fork in part.counted) == (fork in part.users)
        or part.is_under_way(fork, "RemoteCall", "UserAccept", "RemoteFailed", "Call", "Return", "CallFailed")
        or part.is_unanswered(fork, "ForkRequest", "UserDelete", "CreateFailed")
    )


def confirmed_means_counted(part: Part, fork: str, truth: Truth) -> bool:
    """P8: what `confirmed_by_owner()` says is true: a confirmed user is counted."""
    del truth
    return fork not in part.users or part.users[fork][1].state == "pending" or fork in part.counted


def no_user_waits_for_user_code(part: Part, fork: str, truth: Truth) -> bool:
    """P9: a pending user always has a message under way that settles it: counting never waits for a function to end."""
    del truth
    return (
        not part.is_pending(fork)
        or part.is_unanswered(fork, "ForkRequest", "CreateFailed")
        or part.is_under_way(fork, "RemoteCall", "RemoteFailed", "UserAccept")
    )


def no_parent_waits_for_user_code(part: Part, fork: str, truth: Truth) -> bool:
    """P9, for parents: a child that has not accepted yet is on its way, being counted, or its acceptance is being told."""
    parent = truth.parent_of(fork)
    if parent is None or not _knows(part, parent, fork):
        return True
    told = part.is_pending(fork) or ("ChildAccept", fork) in part.unanswered
    return told or part.is_travelling(fork) or ("CallFailed", fork) in part.flying


def _knows(part: Part, parent: str, child: str) -> bool:
    return parent in part.users and any(child == fork for fork, _ in part.users[parent][1].children)


# -- the list ----------------------------------------------------------------------------------------------------------

OF_RREFS: Final[dict[Callable[[Part, Truth], bool], tuple[str, str]]] = {
    no_entry_comes_back: ("P2", "R21"),
    no_entry_goes_while_the_owner_uses_it: ("P1", "R22"),
    the_owners_table_tells_the_truth: ("G3", "R22"),
}
"""What is said of each RRef, with the property it belongs to and its clause."""

OF_FORKS: Final[dict[Callable[[Part, str, Truth], bool], tuple[str, str]]] = {
    no_entry_goes_while_a_fork_lives: ("P1", "R22"),
    no_user_goes_while_it_is_held: ("P1", "R26"),
    every_counted_fork_is_accounted_for: ("G1", "R33"),
    no_parent_goes_before_its_child_is_counted: ("G2", "R24"),
    counts_agree_when_nothing_is_under_way: ("P10", "R33"),
    confirmed_means_counted: ("P8", "R31"),
    the_users_table_tells_the_truth: ("G3", "R26"),
    a_fetch_is_answered_with_a_value: ("P11", "R20"),
    no_user_waits_for_user_code: ("P9", "R18"),
    no_parent_waits_for_user_code: ("P9", "R18"),
}
"""What is said of each fork."""


def visible(observation: Observation, truth: Truth, touched: Iterable[str]) -> list[Violation]:
    """List what some RRefs and forks violate, as far as it can be seen. Where a fork is named, its RRef is too."""
    parts, forks, found = dict[str, Part](), list[tuple[str, str]](), list[Violation]()
    for name in touched:
        if name.startswith("RRef "):
            parts[name[5:]] = Part(name[5:])
        elif (rref := truth.rref_of(name[5:])) is not None:
            forks.append((rref, name[5:]))
    _sort(observation, truth, parts)
    for part in parts.values():
        found += violated(OF_RREFS, f"RRef {part.rref}", part, truth)
    for rref, fork in forks:
        found += violated(OF_FORKS, f"fork {fork}", parts[rref], fork, truth)
    return found


def _sort(observation: Observation, truth: Truth, parts: dict[str, Part]) -> None:
    for worker in observation.workers:
        for entry in worker.entries:
            if entry.rref in parts:
                parts[entry.rref].entry, parts[entry.rref].counted = entry, dict(entry.forks)
        for rref in worker.dropped:
            if rref in parts:
                parts[rref].is_dropped = True
        for user in worker.users:
            if user.rref in parts:
                parts[user.rref].users[user.fork] = (worker.worker, user)
        for message in worker.unanswered:
            if (part := parts.get(truth.rref_of(message.fork) or "")) is not None:
                part.unanswered.add((message.kind, message.fork))
    for message in observation.flying:
        if (part := parts.get(truth.rref_of(message.fork) or "")) is not None:
            part.flying.add((message.kind, message.fork))


# -- the model's own truth ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelTruth:
    """What the model knows, for an implementation that does not say what its applications know."""

    world: World
    bounds: Bounds

    def rref_of(self, fork: str) -> str | None:
        """Name the RRef of a fork."""
        number = int(fork[1:]) if fork[1:].isdecimal() else self.bounds.forks_total
        is_made = number < self.bounds.forks_total and self.world.lineage[number].holder is not None
        return f"x{self.bounds.rref_of(ForkId(number))}" if is_made else None

    def parent_of(self, fork: str) -> str | None:
        """Name the parent of a fork."""
        parent = self.world.lineage[int(fork[1:])].parent
        return None if parent is None else f"f{parent}"

    def holder_of(self, fork: str) -> str:
        """Name the holder of a fork."""
        holder = self.world.lineage[int(fork[1:])].holder
        return "nobody" if holder is None else worker_name(holder)

    def computes(self, rref: str) -> bool:
        """Say whether the function runs that computes an RRef's value."""
        return self.world.owners[int(rref[1:])].running

    def holds(self, rref: str) -> bool:
        """Say whether code on the owner holds an RRef."""
        return int(rref[1:]) in self.world.application.holds

    def waits(self, rref: str) -> bool:
        """Say whether code on the owner waits for an RRef's value."""
        return int(rref[1:]) in self.world.application.waits

    def has(self, fork: str) -> bool:
        """Say whether code on the holder has a handle."""
        return self.world.application.has[int(fork[1:])] in (Handle.HELD, Handle.TIMED_OUT)

    def asks(self, fork: str) -> bool:
        """Say whether code on the holder waits for the value."""
        return int(fork[1:]) in self.world.application.asks

    def gave_up(self, fork: str) -> bool:
        """Say whether code on the holder gave up waiting, as far as the model remembers."""
        return self.world.users[int(fork[1:])].fetch is Fetch.ABANDONED
