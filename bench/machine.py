"""How soon Hypothesis finds out a backend that lacks a rule, and how many of its examples are wasted.

    python bench/machine.py                    every rule of both protocols, three seeds
    python bench/machine.py rref 10            one protocol, ten seeds

For each rule and seed: the number of examples until the disagreement, or a dash if 300 were not enough. A rule about members is
looked for in worlds where somebody is excluded. Four of them say when a view may be settled or buried (R39 to R41): no backend
can be wrong about them, as a step that they forbid is never asked for.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections import Counter
from multiprocessing import Pool
from typing import Any, cast

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.statistics import collector

from farref.model.autograd.rules import OF_MEMBERS
from farref.model.rref.rules import OF_VIEWS
from farref.properties.protocols import PROTOCOLS
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.twin import Disagreement

EXAMPLES_MAX = 300
LOSING: dict[str, dict[str, int]] = {
    "rref": {"workers": 3, "exclusions": 1},
    "autograd": {"exclusions": 1, "cuts": 1, "crashes": 0},
}
"""The bounds of worlds in which rules about members matter."""
FINDING = settings(
    max_examples=EXAMPLES_MAX,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    print_blob=False,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def run(protocol: str, rule: str | None, number: int) -> tuple[bool, Counter[str]]:
    """Let Hypothesis look at a backend without a rule; say whether it was found out, and how the examples ended."""
    rules, seen, is_found = PROTOCOLS[protocol].rules_of("sound", rule), list[Any](), False
    fixed = LOSING[protocol] if rule in (*OF_VIEWS, *OF_MEMBERS) else {}
    members = {"fixed": fixed, "__init__": lambda self: ModelBackend.__init__(self, rules)}
    machine = seed(number)(twin_machine(type("Without", (ModelBackend,), members), protocol))
    with contextlib.redirect_stdout(io.StringIO()), cast(Any, collector).with_value(seen.append):
        try:
            run_state_machine_as_test(machine, settings=FINDING)
        except Disagreement:
            is_found = True
    return is_found, Counter(case["status"] for case in seen[0]["generate-phase"]["test-cases"])


def measure(job: tuple[str, str, int]) -> str:
    """Measure one rule with some seeds, as a line."""
    protocol, rule, seeds = job
    begin = time.process_time()
    runs = [run(protocol, rule, number) for number in range(seeds)]
    needed = [str(statuses.total()) if is_found else "-" for is_found, statuses in runs]
    return f"{protocol:9} {rule:32} {' '.join(f'{one:>4}' for one in needed)}   {time.process_time() - begin:.0f} s"


def main(protocols: list[str], seeds: int) -> None:
    """Measure everything, and print it."""
    for protocol in protocols:
        _, statuses = run(protocol, None, 0)
        wasted = 100 * (1 - statuses["valid"] / statuses.total())
        print(f"{protocol}: {wasted:.0f} % of {statuses.total()} examples are wasted", flush=True)
    jobs = [(protocol, rule, seeds) for protocol in protocols for rule in PROTOCOLS[protocol].rules]
    with Pool(2) as pool:
        for line in pool.imap(measure, jobs):
            print(line, flush=True)


if __name__ == "__main__":
    chosen = [one for one in sys.argv[1:] if one in PROTOCOLS] or [*PROTOCOLS]
    main(chosen, next((int(one) for one in sys.argv[1:] if one.isdecimal()), 3))
