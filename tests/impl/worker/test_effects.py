"""What the core asks for is done: values are let go of, and whoever waits is told, also of errors. Nobody has a thread here."""

from __future__ import annotations

import gc
import weakref

import pytest

from farref.impl import RemoteError, RRef
from tests.impl.far import references as far
from tests.impl.worker.unthreaded import Pair, exchange, outcome, settle


class Weighty:
    """A value that can be watched."""


@pytest.mark.parametrize("owner_is_last", [True, False])
def test_R22_a_value_ends_when_the_last_who_refers_to_it_lets_go(pair: Pair, owner_is_last: bool) -> None:
    a, b = pair
    value = Weighty()
    watched = weakref.ref(value)
    held = [b.create_local(RRef.unbound(), value)]
    del value
    b.call("A", far.keep, held, {}, None)
    exchange(b, a)
    for let_go in (far.drop, held.clear) if owner_is_last else (held.clear, far.drop):
        gc.collect()
        assert watched() is not None
        let_go()
        exchange(a, b)
        exchange(b, a)
    settle(a, b)
    gc.collect()
    assert watched() is None


def test_R23_the_error_of_a_function_is_the_value_and_no_value_is(pair: Pair) -> None:
    a, b = pair
    x = a.remote("B", far.fail, ["no luck"], {}, None)
    exchange(a, b)
    fetch = a.fetch(x.reference, None)
    exchange(a, b)
    with pytest.raises(RemoteError, match="no luck"):
        outcome(fetch)
    del x, fetch
    settle(a, b)


def test_R20_a_fetch_that_waits_is_answered_with_the_error_too(pair: Pair) -> None:
    a, b = pair
    x = a.remote("B", far.fail, ["no luck"], {}, None)
    fetch = a.fetch(x.reference, None)
    exchange(a, b)
    with pytest.raises(RemoteError, match="no luck"):
        outcome(fetch)
    del x, fetch
    settle(a, b)


def test_R21_code_on_the_owner_is_woken_by_its_value(pair: Pair) -> None:
    a, _ = pair
    x = a.create_local(RRef.unbound(), 7)
    assert outcome(a.fetch(x.reference, None)) == 7
    del x
    settle(a)


def test_R23_a_caller_is_told_that_its_call_has_failed(pair: Pair) -> None:
    a, b = pair
    future = a.call("B", far.fail, ["no luck"], {}, None)
    exchange(a, b)
    with pytest.raises(RemoteError, match="no luck"):
        outcome(future)
    settle(a, b)
