"""Measure the engines against TLC, on one model, in one run: `python bench/checker.py`.

Each engine checks the same properties of the same world in a process of its own, one after the other, so that peak memory
is its own and the noise of the machine hits all alike: read the ratios, not the seconds. TLC runs with two workers, so its
depth need not be exact, and includes the start of its virtual machine, which is a small part of a run of this size.

With `--large` the fast engine also searches a world of more than ten million states.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from dataclasses import asdict

from farref.model.checker import fast, reference
from farref.model.checker.interface import Result
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND
from farref.model.rref.world import Bounds
from farref.properties.rref.always import rref_properties
from farref.tlc import engine as tlc

MILLION = Bounds(workers=3, forks=3, drops=1, duplicates=1, self_shares=False)
TEN_MILLION = Bounds(workers=4, forks=3, drops=1, duplicates=1)

AIMS = {
    "fast / TLC, wall": 10.0,
    "fast / TLC, states per CPU-second": 20.0,
    "reference / TLC, states per CPU-second": 0.5,
}


def main() -> int:
    """Run what was asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also search a world of more than ten million states")
    parser.add_argument("--quick", action="store_true", help="a small world, to see that everything works")
    parser.add_argument("--one", nargs=2, metavar=("ENGINE", "BOUNDS"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(_measure(asked.one[0], Bounds(**json.loads(asked.one[1])))))
        return 0
    bounds = Bounds(workers=2, forks=2, drops=1, duplicates=1) if asked.quick else MILLION
    rows = {engine: _in_own_process(engine, bounds) for engine in ("fast", "tlc", "reference")}
    _print_rows(rows)
    agreed = len({(row["verdict"], row["distinct"]) for row in rows.values()}) == 1
    print(f"\nverdict and number of states agree: {'yes' if agreed else 'NO'}")
    _print_ratios(rows)
    if asked.large:
        print()
        _print_rows({"fast": _in_own_process("fast", TEN_MILLION)})
    return 0 if agreed else 1


def _in_own_process(engine: str, bounds: Bounds) -> dict[str, float]:
    print(f"running {engine} ...", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--one", engine, json.dumps(asdict(bounds))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    row: dict[str, float] = json.loads(done.stdout)
    return row


def _measure(engine: str, bounds: Bounds) -> dict[str, object]:
    """Check one world with one engine; what the process held before the search is not the search's."""
    before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = _check(engine, bounds)
    return {
        "verdict": result.verdict.value,
        "distinct": result.distinct,
        "depth": result.depth,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "peak_mb": result.peak_mb,
        "bytes_a_state": max(result.peak_mb - before_mb, 0) * 2**20 / result.distinct,
    }


def _check(engine: str, bounds: Bounds) -> Result:
    properties = rref_properties(bounds)
    if engine == "tlc":
        return tlc.check(bounds, SOUND, properties, workers=2)
    search = fast.check if engine == "fast" else reference.check
    return search(RRefModel(bounds), properties)


def _print_rows(rows: dict[str, dict[str, float]]) -> None:
    columns = (
        ("states", 11),
        ("depth", 5),
        ("wall s", 8),
        ("CPU s", 8),
        ("states/CPU-s", 13),
        ("peak MB", 8),
        ("B/state", 8),
    )
    print("engine    ", *(f"{name:>{width}}" for name, width in columns))
    for engine, row in rows.items():
        rate = row["distinct"] / row["cpu_seconds"]
        print(
            f"{engine:<10} {row['distinct']:>11,} {row['depth']:>5} {row['seconds']:>8.1f} {row['cpu_seconds']:>8.1f}"
            f" {rate:>13,.0f} {row['peak_mb']:>8,.0f} {row['bytes_a_state']:>8,.0f}"
        )


def _print_ratios(rows: dict[str, dict[str, float]]) -> None:
    rate = {engine: row["distinct"] / row["cpu_seconds"] for engine, row in rows.items()}
    measured = {
        "fast / TLC, wall": rows["tlc"]["seconds"] / rows["fast"]["seconds"],
        "fast / TLC, states per CPU-second": rate["fast"] / rate["tlc"],
        "reference / TLC, states per CPU-second": rate["reference"] / rate["tlc"],
    }
    for name, ratio in measured.items():
        print(f"{name:<40} {ratio:>7.1f}x  (aim {AIMS[name]}x)")


if __name__ == "__main__":
    sys.exit(main())
