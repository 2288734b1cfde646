"""The proof's invariant and the abstract machine, checked by TLC in the portfolio: `python bench/tla.py --seconds 600`.

In each configuration TLC looks the invariant up in every state, and sees that every step is one of AbstractRefCount.tla. The
tests do the same in three small worlds. The large configurations take TLC hours; each may take so many seconds, and what was
cut off is said. Ctrl-C ends the configuration that runs, and the bench.
"""

from __future__ import annotations

import argparse
import time

from farref.model.checker.interface import Budget
from farref.model.checker.run import Run
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import SOUND
from farref.properties.rref import portfolio
from farref.tlc import engine as tlc
from farref.tlc.claims import REFINEMENT, module_for

CLAIMS = ("IndInv", REFINEMENT)
PORTFOLIO = tuple(one for one in portfolio.PORTFOLIO if not one.bounds.exclusions)


def look(name: str, seconds: float) -> Run:
    """Have TLC look at one configuration, for so many seconds, and print what it found."""
    [bounds] = [one.bounds for one in PORTFOLIO if one.name == name]
    listener = tlc.Listener(Run("tlc", RRefModel(bounds), (), Budget(seconds_max=seconds)))
    begin = time.monotonic()
    tlc.run_tlc(tlc.render_config(bounds, SOUND, CLAIMS), listener, module=module_for(CLAIMS))
    run, took = listener.run, time.monotonic() - begin
    said = "".join(listener.said)
    assert listener.broken is None, f"{listener.broken} is broken: {said}"
    assert "is violated" not in said, said
    state = "all" if run.complete else run.cut or "cut off"
    print(f"{name}: {run.distinct:,} states ({state}), {took:.0f} s, {listener.version}", flush=True)
    return run


def main() -> None:
    """Go through the portfolio, and print a line for each configuration."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=600.0, help="so long for each configuration (600)")
    arguments.add_argument("--only", choices=[one.name for one in PORTFOLIO], help="one configuration")
    given = arguments.parse_args()
    for one in PORTFOLIO:
        if given.only in (None, one.name) and look(one.name, given.seconds).cut == "interrupted":
            break


if __name__ == "__main__":
    main()
