"""How many references a worker holds, and how many of its own values one peer holds, has a limit (`spec/limits.md`)."""

from __future__ import annotations

import pytest

from farref.impl import LimitReached, Limits, RRef
from farref.impl.worker.connection import LATER
from tests.impl.far import references as far
from tests.impl.worker.unthreaded import A, B, Make, exchange, outcome, run, settle


def test_a_program_holds_no_more_references_than_it_may(make: Make) -> None:
    a, b = make(Limits(references_max=3))
    held = [a.remote("B", far.echo, [n], {}, None) for n in range(3)]
    with pytest.raises(LimitReached, match=r"so many references are held here: references_max is 3$"):
        a.remote("B", far.echo, [3], {}, None)
    exchange(a, b)
    held.pop()
    exchange(a, b)
    held.append(a.remote("B", far.echo, [3], {}, None))
    held.clear()
    settle(a, b)


def test_R28_a_message_with_more_references_than_a_worker_may_hold_is_refused(make: Make) -> None:
    a, b = make(None, Limits(references_max=3))
    values = [a.create_local(RRef.unbound(), n) for n in range(4)]
    future = a.call("B", far.echo, [values], {}, None)
    exchange(a, b)
    with pytest.raises(LimitReached, match=r"worker 1 would hold more references: references_max is 3$"):
        outcome(future)
    assert a.call("B", far.size, [[*values[:3]]], {}, None)
    del values, future
    settle(a, b)


def test_an_owner_gives_a_worker_no_more_references_than_it_may_hold(make: Make) -> None:
    a, b = make(Limits(references_max=3))
    value = a.create_local(RRef.unbound(), 1)
    with pytest.raises(LimitReached, match=r"worker 1 holds so many references of worker 0: references_max is 3$"):
        a.call("B", far.echo, [[value] * 4], {}, None)
    assert a.core.owner.counts.forks[B] == 0, "a call that is refused leaves no fork (R28)"
    del value
    settle(a, b)


def test_R29_a_creation_that_is_too_much_has_the_limit_for_its_value(make: Make) -> None:
    a, b = make(None, Limits(references_max=2))
    held = [a.remote("B", far.echo, [n], {}, None) for n in range(3)]
    exchange(a, b)
    fetch = a.fetch(held[2].reference, None)
    exchange(a, b)
    with pytest.raises(LimitReached, match=r"worker 0 holds so many references of worker 1: references_max is 2$"):
        outcome(fetch)
    held.clear()
    del fetch
    settle(a, b)


def test_R34_a_link_ends_where_references_go_on_in_spite_of_refusals(make: Make) -> None:
    a, b = make(None, Limits(references_max=2))
    held = [a.remote("B", far.echo, [n], {}, None) for n in range(5)]
    a.flush(LATER)
    run(b)
    assert "twice as many references here as it may: references_max is 2" in b.core.dead[A]
    held.clear()
