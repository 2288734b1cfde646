"""The proof beside the model, in every world of the standard portfolio: `python bench/proof.py`, a few minutes of one core.

In each world every clause of the proof is looked up, and every step of the model is compared with the step of the proof. The
tests do the same in the smaller configurations. A clause or a step is called once for each picture of what it looks at, and
the last line says how many pictures there were. `--only` takes one configuration, and `--worlds` stops each one early.
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from farref.model.checker.fast import check
from farref.model.checker.interface import Budget, Progress, Result, Verdict
from farref.properties.proof.link.compared import LINKS, Link
from farref.properties.protocol import Configuration

COLUMNS: Final = "{:<44} {:>10} worlds{:<14} {:>11} steps {:>7} pictures {:>6.1f} CPU-seconds"


def compare(link: Link, one: Configuration, worlds_max: int | None) -> Result:
    """Compare the worlds of a configuration with the proof, and tell how far it is in between."""

    def tell(progress: Progress) -> None:
        print(f"\r  {one.name}: {progress.distinct:,} worlds so far", end="", file=sys.stderr, flush=True)

    budget = Budget(states_max=worlds_max)
    return check(link.model(one.bounds), link.properties(one.bounds), budget=budget, on_progress=tell)


def pictures(result: Result) -> int:
    """Say how often a step or a clause was called: once for each picture of what it looked at."""
    return sum(
        int(word) for note in result.notes if " calls of step" in note for word in note.split() if word.isdigit()
    )


def report(name: str, result: Result) -> bool:
    """Print a line for a configuration; say whether all of it was compared, and nothing differed."""
    print("\r" + " " * 78, end="\r", file=sys.stderr, flush=True)
    how = " (all)" if result.verdict is Verdict.HOLDS else " (not all)"
    print(
        COLUMNS.format(name, f"{result.distinct:,}", how, f"{result.generated:,}", pictures(result), result.cpu_seconds)
    )
    if result.counterexample is not None:
        print(f"  {result.counterexample.property.id} ({result.counterexample.case}): {result.counterexample.text()}")
        print("\n".join(f"    {action}" for action in result.counterexample.actions))
    return result.verdict is not Verdict.VIOLATED


def main() -> int:
    """Go through the portfolios, and print a line for each configuration."""
    names = [one.name for link in LINKS for one in link.portfolio]
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--worlds", type=int, help="about so many worlds of each configuration; all, unless given")
    arguments.add_argument("--only", choices=names, help="one configuration")
    given = arguments.parse_args()
    results = []
    for link in LINKS:
        for one in link.portfolio:
            if given.only in (None, one.name):
                results.append(compare(link, one, given.worlds))
                if not report(f"{link.name}: {one.name}", results[-1]):
                    return 1
    worlds, steps = (sum(getattr(one, name) for one in results) for name in ("distinct", "generated"))
    seconds, seen = sum(one.cpu_seconds for one in results), sum(map(pictures, results))
    print(f"{worlds:,} worlds, {steps:,} steps, {seen:,} pictures, no difference, {seconds:.0f} CPU-seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
