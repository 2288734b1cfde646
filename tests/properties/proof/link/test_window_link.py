"""The proof of R7 beside the channel of the implementation: every clause holds of its numbers, and its steps are the proof's.

The model has no numbers: there a control message is processed or not. So here the proof is tied to the code that has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

import pytest

from farref.impl.core.channel import Incoming, Outgoing
from farref.impl.core.ids import ForkId, Incarnation, RRefId, SequenceNumber, WorkerId
from farref.impl.core.messages import Control, UserDelete
from farref.properties.proof.logic.small import Check, Fact, Follower, Small, compiled
from farref.properties.proof.subjects import WINDOW
from farref.properties.proof.window import CHANNEL, LOW, NEXT, ONCE, N, steps

NUMBERS = tuple(range(10))
LIFE = Incarnation(5)
BODY = UserDelete(RRefId(WorkerId(0), LIFE, 1), ForkId(WorkerId(0), LIFE, 1))
PARAMETERS = (N, LOW, NEXT)
Copy = tuple[int, int]


@dataclass
class Pair:
    """Both halves of a channel of the implementation, what is between them, and what has happened."""

    sender: Outgoing
    receiver: Incoming = field(default_factory=lambda: Incoming(LIFE))
    flying: set[Copy] = field(default_factory=set)
    answering: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    twice: set[int] = field(default_factory=set)

    def small(self) -> Small:
        """Give the state of the proof that this is."""
        said: dict[str, set[Any]] = {
            "unanswered": {*self.sender.unanswered},
            "remembered": {*self.receiver.processed},
            "answering": self.answering,
            "done": self.done,
            "twice": self.twice,
        }
        facts: set[Fact] = {(name, number) for name, numbers in said.items() for number in numbers}
        facts |= {("flying", *copy) for copy in self.flying}
        sent = self.sender.last - len(self.sender.queued)
        amounts = {"window": self.sender.window, "last": sent, "low": self.sender.lowest, "mark": self.receiver.mark}
        return Small({"Number": NUMBERS}, frozenset(facts), {(name,): number for name, number in amounts.items()})

    def put(self, sent: list[Control]) -> None:
        """Put what was sent into the network."""
        self.flying |= {(one.number, one.lowest) for one in sent}

    def step(self, random: Random) -> list[tuple[str, int, int, int, bool]] | None:
        """Take a step of the implementation at random; say which steps of the proof that is: name, n, low, next, stays."""
        sender, last = self.sender, self.sender.last
        choice = random.choice(("add", "retry", "deliver", "deliver", "copy", "ack", "ack", "lose", "lose ack"))
        if choice == "add" and last < NUMBERS[-2]:
            sent = sender.add(BODY, 0.0)
            self.put(sent)
            return [("Send", 0, 0, 0, False) for _ in sent]
        if choice == "retry" and sender.unanswered:
            number = random.choice([*sender.unanswered])
            self.put([sender.retry(number, 0.0)])
            return [("Retry", number, 0, 0, False)]
        if choice in ("deliver", "copy", "lose") and self.flying:
            return [self._befall(choice, *random.choice(sorted(self.flying)))]
        if choice in ("ack", "lose ack") and self.answering:
            return self._answer(choice, random.choice(sorted(self.answering)))
        return None

    def _befall(self, choice: str, number: int, low: int) -> tuple[str, int, int, int, bool]:
        if choice != "copy":
            self.flying.remove((number, low))
        if choice == "lose":
            return "Lose", number, low, 0, False
        control = Control(LIFE, SequenceNumber(number), SequenceNumber(low), BODY)
        assert not self.receiver.is_refused(control)
        if self.receiver.take(control):
            self.twice |= {number} & self.done
            self.done.add(number)
        self.answering.add(number)
        return "Deliver", number, low, 0, choice == "copy"

    def _answer(self, choice: str, number: int) -> list[tuple[str, int, int, int, bool]]:
        self.answering.remove(number)
        if choice == "lose ack":
            return [("Lose an Ack", number, 0, 0, False)]
        waiting = [one for one in self.sender.unanswered if one != number]
        after = min(waiting, default=self.sender.last - len(self.sender.queued) + 1)
        _, sent = self.sender.settle(SequenceNumber(number), 0.0)
        self.put(sent)
        return [("Ack", number, 0, after, False), *(("Send", 0, 0, 0, False) for _ in sent)]


@cache
def checks() -> dict[str, Check]:
    return {one.id: compiled(one.holds(CHANNEL.state)) for one in ONCE.invariant}


def lost(state: Small) -> list[str]:
    return [name for name, holds in checks().items() if not holds(state)]


@cache
def ways() -> list[tuple[str, Check, Follower]]:
    cases = steps(CHANNEL.state, WINDOW.sound)
    return [
        (one.name, compiled(one.guard, PARAMETERS), Follower(CHANNEL.state, one.after, PARAMETERS)) for one in cases
    ]


def followed(before: Small, name: str, *given: Any) -> Small:
    """Take a step of the proof, which can be taken in one way."""
    *at, stays = given
    chosen = Small(before.things, before.facts | ({("stays",)} if stays else set()), before.functions)
    matching = [one for one in ways() if one[0] == name or one[0].startswith((f"{name}:", f"{name} a copy"))]
    [after] = [follow(chosen, *at) for _, guard, follow in matching if guard(chosen, *at)]
    return Small(after.things, after.facts - {("stays",)}, after.functions)


def runs(seed: int) -> Iterator[tuple[Small, list[Any], Small]]:
    """Take a random run, and give each of its steps: before, the steps of the proof, after."""
    random = Random(seed)
    pair = Pair(Outgoing(LIFE, window=random.choice((1, 2, 3))))
    for _ in range(200):
        before, taken = pair.small(), pair.step(random)
        if taken is not None:
            yield before, taken, pair.small()


@pytest.mark.parametrize("seed", range(12))
def test_every_step_of_the_channel_is_one_of_the_proof_and_keeps_every_clause(seed: int) -> None:
    moved = 0
    for before, taken, after in runs(seed):
        state = before
        for step in taken:
            state = followed(state, *step)
        assert (state.facts, state.functions) == (after.facts, after.functions), taken
        assert lost(after) == []
        moved += after != before
    assert moved > 10


def drawn(random: Random) -> Pair:
    """Draw a state that satisfies the invariant, whether or not a run leads there."""
    window, last = random.choice((1, 2, 3)), random.randrange(1, 7)
    lowest = random.randrange(max(1, last - window + 1), last + 2)
    waiting = [one for one in range(lowest, last + 1) if one == lowest or random.random() < 0.5]
    sender = Outgoing(LIFE, window=window, last=last)
    for number in waiting:
        sender._begin(SequenceNumber(number), BODY, 0.0, 0.0)
    done = {one for one in range(1, last + 1) if one not in waiting or random.random() < 0.5}
    mark = random.randrange(max(1, max(done, default=1) - window + 1), lowest + 1)
    remembered = {SequenceNumber(one) for one in done if one >= mark}
    pair = Pair(sender, Incoming(LIFE, SequenceNumber(mark), remembered), done=done)
    copies = [(n, low) for n in range(1, last + 1) for low in range(1, lowest + 1) if low <= n < low + window]
    pair.flying = {one for one in copies if random.random() < 0.4}
    pair.answering = {one for one in done if random.random() < 0.4}
    return pair


def test_from_any_state_of_the_invariant_the_channel_leads_to_another() -> None:
    random, taken = Random(7), 0
    for _ in range(1500):
        pair = drawn(random)
        if lost(pair.small()):
            continue
        if pair.step(random) is not None:
            taken += 1
            assert lost(pair.small()) == []
    assert taken > 500


def test_a_receiver_that_forgets_too_much_loses_a_clause() -> None:
    pair = Pair(Outgoing(LIFE, window=2))
    pair.put(pair.sender.add(BODY, 0.0))
    pair._befall("copy", 1, 1)
    pair.receiver.processed.clear()
    assert lost(pair.small()) == ["W6"]
    pair._befall("deliver", 1, 1)
    assert lost(pair.small()) == ["W8"]
