"""Every ratio of farref to PyTorch in one run, one table and one picture: `python -m bench.ratios`.

    python -m bench.ratios                                     5 rounds, about 5 minutes on a quiet machine
    python -m bench.ratios --rounds 2                          fewer, to have a look
    python -m bench.ratios --loaded                            the same beside busy loops on every core
    python -m bench.ratios --json spec/drawings/ratios.json --svg spec/drawings/ratios.svg      what the README shows
    python -m bench.ratios --from spec/drawings/ratios.json --svg spec/drawings/ratios.svg      drawn again, not measured

The jobs are those of `bench/rpc.py` and `bench/backward.py`. In each round farref and PyTorch do each of them. A ratio
is taken inside a round, and the median over the rounds is told, with the lowest and the highest. Beside them stands what they
were measured on. A ratio below what is wanted is told like any other.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench import backward, rpc
from bench.ratios_picture import picture

JOBS: Final = ("a", "b", "e", "c", "d", "backward")
LIBRARIES: Final = ("farref", "torch", "numpy", "msgspec")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or read what was measured; print the table, and write what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.ratios", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each job is done (default: %(default)s)")
    parser.add_argument("--jobs", default=",".join(JOBS), help="which, separated by commas (default: %(default)s)")
    parser.add_argument("--loaded", action="store_true", help="keep every core busy with something else meanwhile")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the ratios")
    parser.add_argument("--from", type=Path, metavar="FILE", dest="source", help="measure nothing, read these figures")
    asked = parser.parse_args(arguments)
    objection = _objection(asked)
    if objection:
        print(f"bench/ratios.py: {objection}", file=sys.stderr)
        return 2
    told = json.loads(asked.source.read_text()) if asked.source else measured(asked)
    print(rpc.table(told["rows"]))
    print(f"\n{about(told)}")
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=1) + "\n")
    if asked.svg:
        asked.svg.write_text(picture(told["rows"], about(told)))
    return 0


def _objection(asked: argparse.Namespace) -> str | None:
    unknown = [job for job in asked.jobs.split(",") if job not in JOBS]
    if unknown:
        return f"there is no job {unknown[0]!r}; there are {', '.join(JOBS)}"
    if asked.rounds < 1:
        return "--rounds is at least 1"
    if asked.source is None and importlib.util.find_spec("torch") is None:
        return "there are no ratios without PyTorch: pip install '.[torch]'"
    return None


def measured(asked: argparse.Namespace) -> dict[str, Any]:
    """Do every job so many times, and put together what is told of it."""
    rounds, jobs, machine = [rpc.Round() for _ in range(asked.rounds)], asked.jobs.split(","), _machine(asked)
    worlds = rpc.Worlds()
    try:
        with rpc.load(asked.loaded):
            for number, figures in enumerate(rounds, 1):
                for job in jobs:
                    print(f"round {number} of {asked.rounds}, job {job} ...", file=sys.stderr, flush=True)
                    figures |= _backward() if job == "backward" else rpc.compare(worlds, job)
    finally:
        worlds.close()
    machine["load after"] = _load()
    aims = {**rpc.AIMS, **{name: backward.AIM for name in rounds[0] if name.startswith("backward")}}
    return {"machine": machine, "rows": [rpc.row(name, rounds, aims) for name in rounds[0]]}


def _backward() -> rpc.Round:
    own, other = (backward.measured(kind) for kind in ("smart", "torch"))
    return {f"backward {job}/s": (own[job], other[job]) for job in own}


def _machine(asked: argparse.Namespace) -> dict[str, object]:
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "versions": {"Python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
        "rounds": asked.rounds,
        "busy loops beside it": (os.cpu_count() or 1) if asked.loaded else 0,
        "load before": _load(),
    }


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _load() -> float:
    return round(os.getloadavg()[0], 1)


def about(told: dict[str, Any]) -> str:
    """Say in a line what the figures were measured on."""
    machine = told["machine"]
    libraries = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}; {libraries}; medians of"
        f" {machine['rounds']} rounds; load {machine['load before']} before and {machine['load after']} after,"
        f" {machine['busy loops beside it']} busy loops beside it"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
