"""Other processes: asked through a pipe, put down, and out of the reach of Ctrl-C while they start."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import multiprocess  # type: ignore[import-untyped]
import pytest

from farref.properties.processes import ChildEnded, heard, put_down, start_children, tell, undisturbed


def is_set(pid: int, which: str) -> bool:
    """Say whether a process has the signal in its mask of what is blocked (SigBlk), or ignored (SigIgn)."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    mask = next(line.split()[1] for line in lines if line.startswith(f"{which}:"))
    return bool(int(mask, 16) >> (signal.SIGINT - 1) & 1)


@pytest.fixture
def another_thread() -> Iterator[None]:
    """A thread that has nothing blocked: the signal goes to it if the main thread blocks it."""
    ended = threading.Event()
    thread = threading.Thread(target=lambda: ended.wait(60))
    thread.start()
    yield
    ended.set()
    thread.join()


def test_a_process_starts_with_the_signal_blocked() -> None:
    process = multiprocess.get_context("spawn").Process(target=time.sleep, args=[60])
    with undisturbed():
        process.start()
    try:
        assert is_set(process.pid, "SigBlk")
        assert not is_set(os.getpid(), "SigBlk")
    finally:
        process.kill()
        process.join()


@pytest.mark.usefixtures("another_thread")
def test_the_parent_hears_of_it_when_all_have_been_started() -> None:
    done: list[str] = []
    before = signal.getsignal(signal.SIGINT)

    def start() -> None:
        with undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            done.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert done == ["started"]
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_may_start_processes_too() -> None:
    seen: list[bool] = []

    def start() -> None:
        with undisturbed():
            seen.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))
        seen.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, []))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join(30)
    assert seen == [True, False]


def echo(pipe: Any, word: str) -> None:
    """Say a word, and then what is heard; a process that is told to stay does so when its pipe has gone."""
    tell(pipe, word)
    for said in heard(pipe):
        if said == "end":
            os._exit(3)
        tell(pipe, said)
    if word == "stay":
        time.sleep(60)


def test_processes_are_asked_and_put_down() -> None:
    children = start_children(echo, [("one",), ("stay",)])
    assert [child.hear() for child in children] == ["one", "stay"]
    children[0].tell({"a": 1})
    assert children[0].hear() == {"a": 1}
    assert not children[0].has_said_something(0)
    put_down(children[:1], 60)
    put_down(children[1:], 0)
    assert [child.process.exitcode for child in children] == [0, -signal.SIGKILL]
    with pytest.raises(ChildEnded):
        children[0].tell("more")


def test_a_process_that_ends_is_told_of() -> None:
    [child] = start_children(echo, [("one",)])
    assert child.hear() == "one"
    child.tell("end")
    with pytest.raises(ChildEnded):
        child.hear()
    child.end(60)
    assert child.process.exitcode == 3
    child.signal(signal.SIGCONT)  # which nobody hears


def test_what_was_started_ends_if_not_all_can_be() -> None:
    def given() -> Iterator[tuple[str]]:
        yield ("stay",)
        raise LookupError("no more words")

    before = set(multiprocess.active_children())
    with pytest.raises(LookupError):
        start_children(echo, given())
    assert set(multiprocess.active_children()) == before
