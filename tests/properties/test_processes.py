"""Processes that no Ctrl-C reaches while they start, and a parent that hears of it when they have."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import multiprocess  # type: ignore[import-untyped]
import pytest

from farref.properties.processes import undisturbed


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
