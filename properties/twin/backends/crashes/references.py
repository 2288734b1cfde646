"""Stories of references: a worker is lost at a point, and what follows is held against R35 to R46."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from farref.impl.core.effects import CompleteFetch
from farref.impl.core.ids import UserReference, WorkerId
from farref.impl.core.messages import Control, Excluded
from farref.impl.core.observe import observe
from farref.impl.core.views import Buried, MembersBody, View, ViewSettled
from farref.impl.errors import PeerDied, RpcError, WasExcluded
from farref.impl.simulated.network import InFlight
from farref.properties.twin.backends.crashes.expected import after_burial, after_view, differences
from farref.properties.twin.backends.crashes.points import Fate, Outcome, Point, points_of, points_of_two
from farref.properties.twin.backends.crashes.stories import CHAIN, REFERENCES, Story
from farref.properties.twin.backends.crashes.words import HOST, NotNowError, Stage, worker

STORIES: Final = {story.name: story for story in REFERENCES}


def reference_points() -> list[Point]:
    """List every point of every story."""
    one = [point for story in REFERENCES for point in points_of(story.name, len(story.steps), story.roles)]
    return one + points_of_two(CHAIN.name, len(CHAIN.steps), CHAIN.roles)


def try_references(point: Point) -> Outcome:
    """Play a story up to a point, lose a worker there, and go on to the end."""
    story = STORIES[point.story]
    before = f"before {story.steps[point.done]!r}" if point.done < len(story.steps) else "at the end"
    who = ", then the ".join(story.roles[letter] for letter in point.letter)
    place = f"{story.name}, {before}: the {who} is lost ({point.fate.value})"
    return Outcome(point, place, tuple(Loss(story, point).problems()))


class Loss:
    """One story in which somebody is lost."""

    def __init__(self, story: Story, point: Point) -> None:
        self.story, self.point = story, point
        self.stage = Stage()
        self.lost: list[WorkerId] = []
        self.found: list[str] = []
        self.told: set[WorkerId] = set()
        """Those who were told that they are excluded."""
        self.newest_first = point.fate in (Fate.GONE, Fate.SECOND)
        """Whether messages overtake each other after the loss, or come in the order of the story."""
        self.cut_off = 0
        """The newest message of all that were sent before everybody had installed the view."""

    def problems(self) -> Iterator[str]:
        """Take all of it, and say what is wrong."""
        for line in self.story.steps[: self.point.done]:
            self.stage.play(line)
        self._lose(*map(worker, self.point.letter))
        for line in self.story.steps[self.point.done :]:
            with suppress(NotNowError, RpcError):
                if not (self.newest_first and "'s " in line):
                    self.stage.play(line)
        self._rest()
        self._judge_counts()
        self._judge_values()
        self._judge_zombie()
        self._let_go()
        yield from [*self.found, *self.stage.lost_values, *self._left()]

    def _members(self) -> list[WorkerId]:
        return [who for who in self.stage.cores if who not in self.lost]

    # Losing somebody

    def _lose(self, first: WorkerId, second: WorkerId | None = None) -> None:
        """Lose a worker, and let everybody else install the view; the second one to be lost does not."""
        stage = self.stage
        if self.point.fate is not Fate.ZOMBIE:
            stage.end(first)
        if self.point.fate is Fate.HEARD:
            self._rest()
        self._exclude(first, second)
        if second is not None:
            self._let(ViewSettled)
            stage.end(second)
            self._exclude(second)
        self.cut_off = max((flight.id for flight in stage.in_flight()), default=0)

    def _exclude(self, lost: WorkerId, silent: WorkerId | None = None) -> None:
        self.lost.append(lost)
        self.stage.exclude(lost)
        for flight in self.stage.deliverable():
            if is_order(flight, View) and flight.target != silent:
                self._check(flight, "installs the view", View)

    def _check(self, flight: InFlight, what: str, order: type[View] | type[Buried]) -> None:
        """Let an order arrive, and hold what it does against the spec."""
        core, number = self.stage.cores[flight.target], len(self.lost)
        before = observe(core)
        self.stage.deliver(flight.id)
        after = after_view(before, self.lost[-1], number, HOST)
        expected = after if order is View else after_burial(before, {*self.lost}, number)
        told = differences(observe(core), expected)
        self.found += [f"worker {flight.target} {what}: {one}" for one in told]

    def _let(self, order: type[MembersBody]) -> None:
        for flight in self.stage.deliverable():
            if is_order(flight, order):
                self.stage.deliver(flight.id)

    # What follows

    def _rest(self) -> None:
        """Let everything arrive. What a burial does is held against the spec."""
        stage = self.stage
        while flights := stage.deliverable():
            flight = flights[-1 if self.newest_first else 0]
            if is_order(flight, Buried) and not stage.cores[flight.target].members.buried:
                self._check(flight, "hears of the burial", Buried)
            else:
                self._watch(flight)
                stage.deliver(flight.id)

    def _watch(self, flight: InFlight) -> None:
        """Nobody says anything to a lost worker but that it is excluded (R38)."""
        if isinstance(flight.message, Excluded):
            self.told.add(flight.target)
        is_news = flight.target in self.lost and flight.id > self.cut_off > 0
        if is_news and flight.source not in self.lost and not isinstance(flight.message, Excluded):
            self.found.append(f"worker {flight.source} says {flight.message} to a worker that is excluded")

    def _judge_counts(self) -> None:
        """At rest, each owner counts exactly the users there are, and everything of the lost is buried (R41, R46)."""
        tables = {who: observe(self.stage.cores[who]) for who in self._members()}
        for who, seen in tables.items():
            held = {(one.fork, user) for user, users in tables.items() for one in users.users if one.owner == who}
            counted = {pair for entry in seen.entries for pair in entry.forks}
            if held != counted:
                self.found.append(f"worker {who} counts {sorted(counted)}, and {sorted(held)} are held")
            if seen.buried != len(self.lost) or any(entry.kept_for for entry in seen.entries):
                self.found.append(f"worker {who} keeps something for the lost: {seen}")

    def _judge_values(self) -> None:
        """Every member that holds a reference gets its value; an error only if its creation was lost (R46)."""
        for who in self._members():
            for reference in self.stage.handles(who):
                if isinstance(reference, UserReference):
                    with suppress(PeerDied):
                        self._fetch(who, reference)

    def _fetch(self, who: WorkerId, reference: UserReference) -> None:
        stage = self.stage
        fetch = stage.fetch(who, reference)
        self._end_functions()
        self._rest()
        ended = [one for whose, one in stage.log if whose == who and isinstance(one, CompleteFetch)]
        failed = [one.failed for one in ended if one.fetch == fetch]
        may_fail = reference.rref.created_on in self.lost or self.story.name == "trouble"
        if failed != [False] and not (failed and may_fail):
            self.found.append(f"worker {who} holds {reference}, and does not get its value")

    def _judge_zombie(self) -> None:
        """Whoever was told that it is excluded refuses every use (R38)."""
        was_told = {who for who in self.lost if who in self.stage.cores} & self.told
        for who in was_told:
            with suppress(WasExcluded):
                self.stage.create_local(who)
                self.found.append(f"worker {who} was told that it is excluded, and goes on")

    # The end

    def _end_functions(self) -> None:
        for who in self._members():
            for rref in [rref for rref, entry in self.stage.cores[who].owner.entries.items() if entry.running]:
                self.stage.finish_function(who, rref)

    def _let_go(self) -> None:
        """Let the application of every member let go of everything."""
        self._end_functions()
        for who in self._members():
            for reference in self.stage.handles(who):
                self.stage.let_go(who, reference)
        self._rest()

    def _left(self) -> Iterator[str]:
        """Say what is left on members: nothing should be."""
        for who in self._members():
            tables = observe(self.stage.cores[who])
            if not tables.is_empty():
                yield f"something is left on worker {who}: {tables}"


def is_order(flight: InFlight, order: type[MembersBody]) -> bool:
    """Say whether a message is of some kind, of those about members."""
    return isinstance(flight.message, Control) and isinstance(flight.message.body, order)
