"""`farref conform --validate-adapter`: does an adapter speak the protocol?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import click

from farref.judging.plan import all_checks
from farref.properties.conformance.conversation.validation import Remark, validate
from farref.properties.conformance.kit.named import Target
from farref.properties.conformance.kit.steps import LOCKSTEP, STEPS
from farref.properties.conformance.kit.telling import shortened
from farref.rendering.conformance.conclusion import EXIT_CODES, Conclusion
from farref.terminal.output import put, remark
from farref.words import counted, visible

AT_ONCE: Final = 3
"""A check that lacks more than this is far away."""
NAMED_MAX: Final = 4
DEEPER: Final = (
    f"If the backend can hold its messages back: declare {LOCKSTEP} and answer {', '.join(STEPS)}. Then every single step is "
    "compared with the model (spec/conformance.md, Single steps)."
)
MARKS: Final = {True: "✓", False: "✗"}


def validate_adapters(targets: Sequence[Target], start_seconds: float) -> int:
    """Talk to adapters, print a line for each thing that was tried, and give the exit code."""
    if not targets:
        raise click.UsageError("--validate-adapter needs an adapter: --backend file.py, or a command after --")
    return max(_validate(target, start_seconds) for target in targets)


def _validate(target: Target, start_seconds: float) -> int:
    mistakes, declared = 0, frozenset[str]()
    try:
        for one in validate(target.command, start_seconds):
            put(line(one))
            mistakes += one.mistake is not None
            declared |= one.declared
    except OSError as error:
        remark(f"{target.command[0]} cannot be started: {error.strerror}")
        return EXIT_CODES[Conclusion.HARNESS]
    if mistakes:
        put(f"{counted(mistakes, 'mistake')}: the adapter does not speak the protocol yet.")
        again = " ".join(("farref conform --validate-adapter", *target.words))
        put(f"Mend the first; others often follow from it. Then again: {again}")
        return EXIT_CODES[Conclusion.BROKEN]
    ready = sum(one.needs <= declared for one in all_checks())
    put(f"The adapter speaks the protocol, and {counted(ready, 'check')} can be run.")
    put("Now: " + " ".join(("farref conform", *target.words)) if ready else "No check can be run yet.")
    put(f"To have more checks, implement and declare: {', '.join(worth_declaring(declared))}")
    if LOCKSTEP not in declared:
        put(DEEPER)
    return EXIT_CODES[Conclusion.CONFORMS]


def worth_declaring(declared: frozenset[str]) -> list[str]:
    """Name what would let the most checks run, if it were declared too; best first."""
    if not {"create", "fetch"} <= declared:
        return ["create, fetch and function.echo, with which nearly every check begins"]
    asked = [one for one in all_checks() if LOCKSTEP not in one.needs]  # of that another line tells
    near = [missing for one in asked if 0 < len(missing := one.needs - declared) <= AT_ONCE]
    more = Counter(name for missing in near for name in missing)
    worth = {name: sum(1 / len(missing) for missing in near if name in missing) for name in more}
    best = sorted(more, key=lambda name: (-worth[name], name))[:NAMED_MAX]
    return [f"{name} ({counted(more[name], 'check')})" for name in best] or ["nothing; every check can be run"]


def line(one: Remark) -> str:
    """Say in one line what was found."""
    said = one.about if one.mistake is None else f"{one.about}: {one.mistake}"
    return f"{MARKS[one.mistake is None]} {visible(' '.join(shortened(said).split()))}"
