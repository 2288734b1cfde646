"""How far the proof and the model were compared: `python bench/proof.py --worlds 5000`, in each configuration of the portfolio.

In each world every clause of the proof is looked up, and every step of the model is compared with the step of the proof. The
tests do the same in fewer worlds. One core does about two thousand steps a second. `--worlds 0` goes through all of them, which
takes days: `--only` takes one configuration, progress is told as it goes, and after Ctrl-C it says how far it came.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import islice

from farref.model.rref.world import Bounds
from farref.properties.proof.link.clauses import broken
from farref.properties.proof.link.steps import disagreement
from farref.properties.proof.link.walk import Moment, Move, moments
from farref.properties.proof.link.worlds import state_of
from farref.properties.rref.portfolio import PORTFOLIO

Compared = tuple[int, int, str]
"""How many worlds and steps, and whether those are all."""

PROGRESS_S = 10.0
INTERRUPTED = " (interrupted)"


def compare(name: str, bounds: Bounds, worlds_max: int) -> Compared:
    """Compare the first worlds of a model with the proof, or all of them, and count worlds and steps."""
    worlds, steps, told = 0, 0, time.monotonic()
    walk = moments(bounds)
    try:
        for lines in islice(walk, worlds_max or None):
            worlds, steps = worlds + 1, steps + look(bounds, *lines)
            if time.monotonic() > told + PROGRESS_S:
                told = time.monotonic()
                print(f"  {name}: {worlds:,} worlds, {steps:,} steps so far", file=sys.stderr, flush=True)
        return worlds, steps, " (all)" if next(walk, None) is None else ""
    except KeyboardInterrupt:
        return worlds, steps, INTERRUPTED


def look(bounds: Bounds, moment: Moment, moves: list[Move]) -> int:
    """Look up every clause in a world, and compare every step that leads out of it; say how many those are."""
    world, remote = moment
    lost = broken(state_of(world, remote, bounds))
    assert not lost, f"{lost} in {world}"
    for before, known, action, after in moves:
        difference = disagreement(before, action, after, known, bounds)
        assert difference is None, difference
    return len(moves)


def main() -> None:
    """Go through the portfolio, and print a line for each configuration."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument(
        "--worlds", type=int, default=5000, help="so many worlds of each configuration (5000); 0 for all"
    )
    arguments.add_argument("--only", choices=[one.name for one in PORTFOLIO], help="one configuration")
    given = arguments.parse_args()
    total_worlds, total_steps, begin = 0, 0, time.process_time()
    for one in PORTFOLIO:
        if given.only not in (None, one.name):
            continue
        worlds, steps, how = compare(one.name, one.bounds, given.worlds)
        total_worlds, total_steps = total_worlds + worlds, total_steps + steps
        print(f"{one.name}: {worlds:,} worlds{how}, {steps:,} steps", flush=True)
        if how == INTERRUPTED:
            break
    seconds = time.process_time() - begin
    rate = f"{seconds:.0f} CPU-seconds, {total_steps / max(seconds, 0.001):,.0f} steps a second"
    print(f"{total_worlds:,} worlds, {total_steps:,} steps, no difference, {rate}")


if __name__ == "__main__":
    main()
