"""How far the proof and the model were compared: `python bench/proof.py --worlds 5000`, in each configuration of the portfolio.

In each world every clause of the proof is looked up, and every step of the model is compared with the step of the proof. The
tests do the same in fewer worlds. One core does about a thousand steps a second.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice

from farref.model.rref.world import Bounds
from farref.properties.proof.link.clauses import broken
from farref.properties.proof.link.steps import disagreement
from farref.properties.proof.link.walk import moments
from farref.properties.proof.link.worlds import state_of
from farref.properties.rref.portfolio import PORTFOLIO


def compare(bounds: Bounds, worlds_max: int) -> tuple[int, int, bool]:
    """Compare the first worlds of a model with the proof, and count worlds and steps; say whether those are all."""
    worlds, steps = 0, 0
    walk = moments(bounds)
    for (world, remote), moves in islice(walk, worlds_max):
        worlds, steps = worlds + 1, steps + len(moves)
        lost = broken(state_of(world, remote, bounds))
        assert not lost, f"{lost} in {world}"
        for before, known, action, after in moves:
            difference = disagreement(before, action, after, known, bounds)
            assert difference is None, difference
    return worlds, steps, next(walk, None) is None


def main() -> None:
    """Go through the portfolio, and print a line for each configuration."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--worlds", type=int, default=5000, help="so many worlds of each configuration (5000)")
    worlds_max = arguments.parse_args().worlds
    total_worlds, total_steps, begin = 0, 0, time.process_time()
    for one in PORTFOLIO:
        worlds, steps, is_all = compare(one.bounds, worlds_max)
        total_worlds, total_steps = total_worlds + worlds, total_steps + steps
        print(f"{one.name}: {worlds:,} worlds{' (all)' if is_all else ''}, {steps:,} steps", flush=True)
    print(
        f"{total_worlds:,} worlds, {total_steps:,} steps, no difference, {time.process_time() - begin:.0f} CPU-seconds"
    )


if __name__ == "__main__":
    main()
