"""R7: exactly once, in bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farref.impl.core.channel import (
    FIRST_INTERVAL_S,
    LONGEST_INTERVAL_S,
    WINDOW,
    Incoming,
    Outgoing,
    interval,
)
from farref.impl.core.ids import FIRST_LIFE, ForkId, Incarnation, RRefId, SequenceNumber, WorkerId
from farref.impl.core.messages import Control, UserDelete

A = WorkerId(0)


def delete(number: int) -> UserDelete:
    return UserDelete(RRefId(A, FIRST_LIFE, number), ForkId(A, FIRST_LIFE, number))


def test_the_window_queues_and_opens_with_the_lowest_answer() -> None:
    sender = Outgoing(FIRST_LIFE)
    sent = [control for number in range(WINDOW + 2) for control in sender.add(delete(number), 0.0)]
    assert len(sent) == WINDOW
    assert sender.settle(SequenceNumber(2), 0.0)[1] == []
    _, released = sender.settle(SequenceNumber(1), 0.0)
    assert [control.number for control in released] == [WINDOW + 1, WINDOW + 2]
    assert all(control.lowest == 3 for control in released[1:])


def test_R7_a_message_that_is_sent_again_says_the_lowest_number_as_it_is_now() -> None:
    sender = Outgoing(FIRST_LIFE)
    for number in (1, 2, 3):
        sender.add(delete(number), 0.0)
    assert sender.retry(SequenceNumber(3), 0.0).lowest == 1
    sender.settle(SequenceNumber(1), 0.0)
    assert sender.retry(SequenceNumber(3), 0.0).lowest == 2
    sender.settle(SequenceNumber(3), 0.0)
    assert sender.retry(SequenceNumber(2), 0.0).lowest == 2


@pytest.mark.parametrize("before", [(1, 2, 3, 4, 5), (4, 5)], ids=["most below it came", "few below it came"])
def test_R7_the_mark_is_raised_to_the_lowest_number_and_no_further(before: tuple[int, ...]) -> None:
    """What is below the mark is forgotten; the number at the mark is remembered, and its copy has no effect."""
    receiver = Incoming(FIRST_LIFE)

    def take(number: int, lowest: int) -> bool:
        return receiver.take(Control(FIRST_LIFE, SequenceNumber(number), SequenceNumber(lowest), delete(number)))

    assert all(take(number, 1) for number in before)
    assert take(7, lowest=5)
    assert (receiver.mark, receiver.processed) == (5, {5, 7})
    assert [take(number, lowest=5) for number in (4, 5, 6, 7)] == [False, False, True, False]


def test_an_older_life_and_a_number_outside_the_window_are_refused() -> None:
    receiver = Incoming(Incarnation(5))
    assert receiver.is_refused(Control(Incarnation(4), SequenceNumber(1), SequenceNumber(1), delete(1)))
    assert receiver.is_refused(Control(Incarnation(5), SequenceNumber(WINDOW + 1), SequenceNumber(1), delete(1)))
    assert receiver.take(Control(Incarnation(5), SequenceNumber(1), SequenceNumber(1), delete(1)))
    assert receiver.take(Control(Incarnation(6), SequenceNumber(1), SequenceNumber(1), delete(1)))


def test_R7_what_would_be_taken_is_what_is_taken_and_to_ask_changes_nothing() -> None:
    receiver = Incoming(Incarnation(5))
    known = Control(Incarnation(5), SequenceNumber(2), SequenceNumber(2), delete(2))
    assert receiver.would_take(known)
    assert receiver.take(known)
    assert not receiver.would_take(known)
    assert not receiver.would_take(Control(Incarnation(5), SequenceNumber(1), SequenceNumber(1), delete(1)))
    assert not receiver.would_take(Control(Incarnation(4), SequenceNumber(9), SequenceNumber(9), delete(9)))
    assert receiver.would_take(Control(Incarnation(6), SequenceNumber(2), SequenceNumber(2), delete(2)))
    assert (receiver.incarnation, receiver.mark) == (5, 2)


def test_waiting_times_grow_to_a_limit_and_differ() -> None:
    assert all(0.5 * FIRST_INTERVAL_S < interval(SequenceNumber(n), 0) <= FIRST_INTERVAL_S for n in range(1, 50))
    assert interval(SequenceNumber(1), 60) <= LONGEST_INTERVAL_S
    assert len({interval(SequenceNumber(n), 3) for n in range(1, 50)}) == 49


@settings(max_examples=200)
@given(st.lists(st.integers(0, 5), max_size=120), st.randoms(use_true_random=False))
def test_each_message_takes_effect_once(moves: list[int], random: object) -> None:
    """Whatever is lost, repeated and reordered, what took effect is what was sent, each once."""
    sender, receiver = Outgoing(FIRST_LIFE), Incoming(FIRST_LIFE)
    network: list[Control] = []
    effects: list[int] = []
    pick = random.randrange  # type: ignore[attr-defined]

    def arrive(control: Control) -> None:
        if receiver.take(control):
            effects.append(control.number)

    for move in moves:
        if move == 0:
            network += sender.add(delete(1), 0.0)
        elif move == 1 and network:
            network.pop(pick(len(network)))
        elif move == 2 and sender.unanswered:
            network.append(sender.retry(list(sender.unanswered)[pick(len(sender.unanswered))], 0.0))
        elif network:
            control = network[pick(len(network))] if move == 3 else network.pop(pick(len(network)))
            arrive(control)
            if move == 5:
                network += sender.settle(control.number, 0.0)[1]
        assert receiver.processed <= set(range(receiver.mark, sender.last + 1))
    for number in list(sender.unanswered):
        arrive(sender.retry(number, 0.0))
    for control in network:
        arrive(control)
    assert sorted(effects) == list(range(1, sender.last + 1))
