"""`farref conform --validate-adapter`: does an adapter speak the protocol?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from farref.properties.conformance.conversation.validation import Remark, validate
from farref.properties.conformance.kit.named import Target
from farref.properties.conformance.kit.telling import shortened
from farref.rendering.conformance.conclusion import EXIT_CODES, Conclusion
from farref.terminal.output import put, remark
from farref.words import counted, visible

MARKS: Final = {True: "✓", False: "✗"}


def validate_adapters(targets: Sequence[Target]) -> int:
    """Talk to adapters, print a line for each thing that was tried, and give the exit code."""
    if not targets:
        raise click.UsageError("--validate-adapter needs an adapter: --backend file.py, or a command after --")
    return max(_validate(target) for target in targets)


def _validate(target: Target) -> int:
    mistakes = 0
    try:
        for one in validate(target.command):
            put(line(one))
            mistakes += one.mistake is not None
    except OSError as error:
        remark(f"{target.command[0]} cannot be started: {error.strerror}")
        return EXIT_CODES[Conclusion.HARNESS]
    if mistakes:
        put(f"{counted(mistakes, 'mistake')}: the adapter does not speak the protocol yet.")
        return EXIT_CODES[Conclusion.BROKEN]
    put("The adapter speaks the protocol. Now: " + " ".join(("farref conform", *target.words)))
    return EXIT_CODES[Conclusion.CONFORMS]


def line(one: Remark) -> str:
    """Say in one line what was found."""
    said = one.about if one.mistake is None else f"{one.about}: {one.mistake}"
    return f"{MARKS[one.mistake is None]} {visible(' '.join(shortened(said).split()))}"
