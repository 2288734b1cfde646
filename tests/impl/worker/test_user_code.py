"""User code runs under no lock: it may call and wait, and nobody waits for it."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from typing import Any

import pytest

from farref.impl import Cluster, RemoteError, RRef, autograd, launch, remote, rpc_async, rpc_sync, tape, user_code
from farref.impl.api import current
from farref.impl.values.codec import Reader, Writer
from farref.impl.values.reports import read_error, write_error
from tests.impl.far import objects as far_objects
from tests.impl.far import references as far
from tests.impl.settling import eventually

WRITTEN, READ = "written: answered", "read: answered"


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    allowed = ["tests.impl.far.references", "tests.impl.far.objects"]
    with (
        pytest.warns(UserWarning, match="allow_pickle"),
        launch(["A"], allow=allowed, rpc_timeout=20, allow_pickle=True) as cluster,
    ):
        yield cluster


def test_the_end_of_a_value_may_call_and_wait() -> None:
    references = [remote("A", far_objects.Finalized) for _ in range(3)]
    for reference in references:
        eventually(reference.confirmed_by_owner)
    del references, reference
    time.sleep(0.5)  # nobody calls: then it is the reader of A that hears of it
    eventually(lambda: len(rpc_sync("A", far_objects.ends)) == 3, 30.0)
    assert rpc_sync("A", far_objects.ends) == ["answered"] * 3


@pytest.mark.parametrize("to", ["A", "driver"])
def test_pickles_of_arguments_and_results_may_call_and_wait(to: str) -> None:
    assert rpc_sync(to, far_objects.heard_by, [far_objects.Talking([])]) == [WRITTEN, READ]
    assert rpc_sync(to, far_objects.same, [far_objects.Talking([])]).heard == [WRITTEN, READ] * 2


@pytest.mark.parametrize("to", ["A", "driver"])
def test_pickles_of_creations_and_fetches_may_call_and_wait(to: str) -> None:
    reference = remote(to, far_objects.same, [far_objects.Talking([])])
    heard = reference.to_here().heard
    assert heard == ([WRITTEN, READ] * 2 if to == "A" else [WRITTEN, READ])


def test_many_that_call_and_wait_at_once_all_arrive() -> None:
    own = RRef(far_objects.Talking([]))
    futures = [rpc_async("A", far_objects.same, [far_objects.Talking([])]) for _ in range(8)]
    fetches = [rpc_async("A", far.fetch, [own]) for _ in range(4)]
    assert [future.wait().heard for future in futures] == [[WRITTEN, READ] * 2] * 8
    assert [future.wait().heard for future in fetches] == [[WRITTEN, READ] * 2] * 4


@pytest.mark.parametrize("to", ["A", "driver"])
def test_the_text_of_an_error_may_call_and_wait(to: str) -> None:
    with pytest.raises(RemoteError, match="answered"):
        rpc_sync(to, far_objects.fail_talking)


# The assertion itself: each place where user code begins fails if a lock is held there


def _write_pickle() -> None:
    Writer(lambda _: None, allow_pickle=True).write(far_objects.Thing(1))


def _read_pickle() -> None:
    body = Writer(lambda _: None, allow_pickle=True).write([])
    assert body
    Reader(lambda _: None, allow_pickle=True).extension(10, memoryview(pickle.dumps(1)))


def _make_error() -> None:
    read_error(write_error(user_code_error, "A", "f"))


def _walk_back() -> None:
    x = tape.tensor([1.0], requires_grad=True)
    (x * x).sum().backward()


def _hook() -> None:
    x = tape.tensor([1.0], requires_grad=True)
    x.register_hook(lambda gradient: gradient)
    (x * 1).sum().backward()


user_code_error = ValueError("no")


@pytest.mark.parametrize("begin", [_write_pickle, _read_pickle, _make_error, _walk_back, _hook])
def test_debug_mode_refuses_user_code_under_a_lock(begin: Any) -> None:
    assert user_code.DEBUG, "tests run in debug mode"
    begin()
    with current().lock, pytest.raises((AssertionError, RuntimeError), match=r"would run under worker\.lock"):
        begin()


def test_debug_mode_refuses_functions_callbacks_and_ends_under_a_lock() -> None:
    worker = current()
    with worker.lock, pytest.raises(AssertionError, match="echo is code of the application"):
        worker.performer._invoke("echo", ([], {}), None)
    with worker.lock, pytest.raises(AssertionError, match="the end of a value"):
        worker.performer._end(object())


def test_a_context_that_ends_may_finalize_what_calls_and_waits() -> None:
    ended = rpc_sync("A", far_objects.ends)
    with autograd.context():
        loss = tape.tensor([1.0], requires_grad=True)
        finalized = far_objects.Finalized()
        loss.register_hook(lambda gradient, _kept=finalized: gradient)  # type: ignore[misc]
        rpc_sync("A", far.echo, [loss * 2])
        del loss, finalized
    assert far_objects.ends() == ["answered"], "it ends before the block does, on the thread that leaves it"
    assert rpc_sync("A", far_objects.ends) == ended
