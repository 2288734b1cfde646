"""Say what one small call costs, without noise: `python -m bench.call`.

Two workers in one process, without threads: what a worker would do by itself is done here, one thing after the other. So
nobody is woken, no core is shared, and a change of one per cent shows, which `bench/rpc.py` cannot see. Each stage is timed in
each call; the figure is the twentieth part of the calls that was fastest. Compare two commits in turns, several times: from
process to process the figures differ by one or two per cent.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections import Counter
from time import perf_counter_ns
from types import FrameType
from typing import Any, Final

from bench.rpc_jobs import add
from farref.impl.worker.futures import Future
from farref.impl.worker.worker import Worker
from tests.impl.worker.unthreaded import do_tasks, making

STAGES: Final = ("call", "arrival", "function and answer", "wait")
WARM_UP: Final = 1000


def main() -> None:
    """Measure, and print a line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=30_000, help="how many are made (default: %(default)s)")
    count = max(parser.parse_args().calls, 100)
    with making() as make_pair:
        a, b = make_pair(None, None, add.__module__)
        b.reactor._leading, b.reactor._reader = True, threading.get_ident()  # it runs what it reads, as a callee does
        timed(a, b, WARM_UP)
        figures = timed(a, b, count)
        entered = functions_entered(a, b, WARM_UP)
    for stage, microseconds in zip((*STAGES, "altogether"), (*figures, sum(figures)), strict=True):
        print(f"{stage:<22}{microseconds:8.2f} us")
    print(f"{'Python functions':<22}{entered:8.1f}")


def stages(a: Worker, b: Worker) -> tuple[int, ...]:
    """Make one call, and say when each stage began, and when the last ended."""
    began = perf_counter_ns()
    future: Future[Any] = a.call("B", add, (1, 2), {}, None)
    called = perf_counter_ns()
    b.intake.turn(0.0)
    arrived = perf_counter_ns()
    do_tasks(b)
    answered = perf_counter_ns()
    assert future.wait() == 3
    return began, called, arrived, answered, perf_counter_ns()


def timed(a: Worker, b: Worker, count: int) -> list[float]:
    """Say what each stage takes, in microseconds."""
    calls = [stages(a, b) for _ in range(count)]
    spent = [sorted(times[number + 1] - times[number] for times in calls) for number in range(len(STAGES))]
    return [times[count // 20] / 1000 for times in spent]


def functions_entered(a: Worker, b: Worker, count: int) -> float:
    """Count the functions written in Python that a call enters, those of this program left out."""
    entered: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename != __file__:
            entered[frame.f_code.co_name] += 1

    sys.setprofile(note)
    for _ in range(count):
        stages(a, b)
    sys.setprofile(None)
    return sum(entered.values()) / count


if __name__ == "__main__":
    main()
