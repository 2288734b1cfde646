"""R7 with numbers, a mark and a window: every message takes effect once, and the receiver's memory is bounded.

One sender and one receiver. The sender numbers its messages 1, 2, 3, … and sends each again until it is answered. A copy
carries its number and `low`, the lowest number that its sender waited for as it sent this copy. The receiver has a mark: it
has forgotten what is below it. It moves the mark up to the `low` of each copy that arrives, and remembers the numbers from
the mark on that took effect. Whatever is below the mark, or remembered, is a copy: it is answered and has no effect.

The network loses, copies and reorders. All is proved for every size of the window, and for any number of messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from farref.properties.proof.induction.theory import Case, Situation, Theorem, Theory, clause
from farref.properties.proof.logic.formulas import (
    FALSE,
    NUMBER,
    Applied,
    Formula,
    Related,
    Term,
    Variable,
    all_of,
    any_of,
    at_most,
    every,
    iff,
    implies,
    less,
    plus,
    same,
)
from farref.properties.proof.logic.relations import Amount, Named, Relation, Relations, amount, changed, empty, relation

Rules = Mapping[str, bool]

RULES: Final = ("processes_once", "window_is_kept", "low_is_lowest", "forgets_only_below_low", "retries_until_answered")
"""R7's and R6's own rule, and what R7 says of numbers, each as something that can be left out."""


def window() -> Term:
    """Give the size of the window."""
    return Applied("window", (), NUMBER)


@dataclass(frozen=True)
class State(Relations):
    """The two ends of one channel, and what is between them."""

    # The sender
    last: Amount = amount("the last number")
    low: Amount = amount("the lowest open number")
    unanswered: Relation = relation("{} is unanswered", NUMBER)

    # The receiver
    mark: Amount = amount("the mark")
    remembered: Relation = relation("{} is remembered", NUMBER)

    # The network
    flying: Relation = relation("{} flies with low {}", NUMBER, NUMBER)
    answering: Relation = relation("the Ack of {} flies", NUMBER)

    # History, for properties to speak of
    done: Relation = relation("{} has taken effect", NUMBER)
    twice: Relation = relation("{} has taken effect twice", NUMBER)


N, LOW, NEXT = (Variable(name, NUMBER) for name in ("n", "low", "next"))
STAYS: Final = Related("stays", ())
Step = Case[State]


# -- steps -------------------------------------------------------------------------------------------------------------


def send(s: State, rules: Rules) -> Iterator[Step]:
    """The sender sends a new message. It waits while the window is full."""
    number = plus(s.last(), 1)
    fits = less(number, plus(s.low(), window())) if rules["window_is_kept"] else at_most(0, s.last())
    sent = s.at(number, unanswered=True).but(last=lambda: number)
    yield Step("Send", fits, sent.but(flying=_with(s, number, s.low())))


def retry(s: State, rules: Rules) -> Iterator[Step]:
    """The sender sends an unanswered message again, with the `low` of today (R6)."""
    if rules["retries_until_answered"]:
        yield Step("Retry", s.unanswered(N), s.but(flying=_with(s, N, s.low())))


def deliver(s: State, rules: Rules) -> Iterator[Step]:
    """A message or a copy arrives. The mark moves first; then it is a copy, or it takes effect."""
    moves = less(s.mark(), LOW)
    yield from _arrives("the mark moves", s.flying(N, LOW) & moves, s, LOW, rules)
    yield from _arrives("the mark stays", s.flying(N, LOW) & ~moves, s, s.mark(), rules)


def _arrives(name: str, guard: Formula, s: State, mark: Term, rules: Rules) -> Iterator[Step]:
    def kept(number: Term) -> Formula:
        return s.remembered(number) & at_most(mark, number)

    def flying(number: Term, low: Term) -> Formula:
        return s.flying(number, low) & (STAYS | ~(same(number, N) & same(low, LOW)))

    forgotten = plus(N, 1) if not rules["forgets_only_below_low"] else mark
    taken = s.but(remembered=kept, flying=flying, mark=lambda: mark).at(N, answering=True)
    copy = any_of(less(N, mark), kept(N)) if rules["processes_once"] else FALSE
    yield Step(f"Deliver a copy: {name}", guard & copy, taken)
    effect = taken.at(N, remembered=True, done=True, twice=s.twice(N) | s.done(N)).but(mark=lambda: forgotten)
    yield Step(f"Deliver: {name}", guard & ~copy, effect)


def acknowledge(s: State, rules: Rules) -> Iterator[Step]:
    """An Ack arrives. The sender moves `low` up, at most to the lowest number that it still waits for."""
    waits = changed(s.unanswered, (N,), FALSE)
    lowest = every(NUMBER, lambda number: implies(waits(number), at_most(NEXT, number)))
    moves = all_of(
        at_most(s.low(), NEXT), at_most(NEXT, plus(s.last(), 1)), *([lowest] if rules["low_is_lowest"] else [])
    )
    after = s.but(unanswered=waits, low=lambda: NEXT, answering=changed(s.answering, (N,), STAYS))
    yield Step("Ack", s.answering(N) & moves, after)


def lose(s: State, rules: Rules) -> Iterator[Step]:
    """The network loses a message or an Ack."""
    yield Step("Lose", s.flying(N, LOW), s.at(N, LOW, flying=False))
    yield Step("Lose an Ack", s.answering(N), s.at(N, answering=False))


def steps(s: State, rules: Rules) -> Iterator[Step]:
    """List everything that can happen."""
    for step in (send, retry, deliver, acknowledge, lose):
        yield from step(s, rules)


def _with(s: State, number: Term, low: Term) -> Relation:
    return lambda x, y: s.flying(x, y) | (same(x, number) & same(y, low))


# -- the invariant -----------------------------------------------------------------------------------------------------


@clause("W1", "R7", NUMBER, NUMBER)
def carried(s: State, x: Term, y: Term) -> Formula:
    """A copy carries a low that was the sender's once: not above today's, and within a window of its number."""
    numbers = all_of(at_most(1, y), at_most(y, s.low()), at_most(y, x), at_most(x, s.last()))
    return implies(s.flying(x, y), numbers & less(x, plus(y, window())))


@clause("W2", "R7", NUMBER)
def answers(s: State, x: Term) -> Formula:
    """What is answered has taken effect."""
    return implies(s.answering(x), s.done(x))


@clause("W3", "R7", NUMBER)
def answered(s: State, x: Term) -> Formula:
    """What was sent and is no longer waited for has taken effect."""
    return implies(all_of(at_most(1, x), at_most(x, s.last()), ~s.unanswered(x)), s.done(x))


@clause("W4", "R7", NUMBER)
def unanswered(s: State, x: Term) -> Formula:
    """What is waited for lies within one window from low."""
    return implies(s.unanswered(x), all_of(at_most(s.low(), x), at_most(x, s.last()), less(x, plus(s.low(), window()))))


@clause("W5", "R7")
def marks(s: State) -> Formula:
    """The receiver's mark is at most the sender's low."""
    return all_of(at_most(1, s.mark()), at_most(s.mark(), s.low()), at_most(s.low(), plus(s.last(), 1)))


@clause("W6", "R7", NUMBER)
def memory(s: State, x: Term) -> Formula:
    """The receiver remembers exactly what has taken effect from the mark on."""
    return iff(s.remembered(x), s.done(x) & at_most(s.mark(), x))


@clause("W7", "R7", NUMBER)
def numbers(s: State, x: Term) -> Formula:
    """Only what was sent has taken effect."""
    return implies(s.done(x), at_most(1, x) & at_most(x, s.last()))


@clause("W8", "R7, P6", NUMBER)
def once(s: State, x: Term) -> Formula:
    """Nothing takes effect twice."""
    return ~s.twice(x)


@clause("W9", "R7", NUMBER)
def bounded(s: State, x: Term) -> Formula:
    """What is remembered lies within one window from the mark, so there is never more of it than the window is wide."""
    return implies(s.remembered(x), at_most(s.mark(), x) & less(x, plus(s.mark(), window())))


# -- the theorem -------------------------------------------------------------------------------------------------------


def initial(s: State) -> Formula:
    """Nothing was sent."""
    return all_of(empty(s), *(same(one, plus(value)) for one, value in ((s.last(), 0), (s.low(), 1), (s.mark(), 1))))


CHANNEL: Final = Theory(
    name="window",
    state=State.arbitrary(),
    initial=initial,
    steps=steps,
    axioms=(at_most(1, window()),),
    functions={"window": ((), NUMBER)},
    constant=(Named("stays", "what arrives is a copy", ()),),
)


def situations(s: State) -> Iterator[Situation]:
    """List what the invariant must leave possible."""
    wide = at_most(2, window())
    yield Situation("a copy flies after its effect", all_of(wide, s.flying(N, LOW), s.done(N), s.unanswered(N)))
    yield Situation("a copy flies below the mark", all_of(s.flying(N, LOW), less(N, s.mark())))
    yield Situation("messages overtake each other", all_of(wide, s.done(plus(N, 1)), s.unanswered(N), ~s.done(N)))


ONCE: Final = Theorem(
    id="once",
    text="Every message takes effect at most once, and the receiver remembers at most one window of numbers (R7).",
    theory=CHANNEL,
    invariant=(carried, answers, answered, unanswered, marks, memory, numbers, once, bounded),
    situations=tuple(situations(CHANNEL.state)),
)
