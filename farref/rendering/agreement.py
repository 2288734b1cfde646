"""What a comparison of model and implementation came to, and how a disagreement is shown."""

from __future__ import annotations

import shlex
from enum import Enum
from typing import Final

from rich.console import Console

from farref.checking.request import flags
from farref.properties.protocols import protocol_of
from farref.properties.traces.file import DisagreementRecord
from farref.properties.twin.twin import Disagreement
from farref.rendering.layout import numbered
from farref.terminal.exits import BROKEN, OK, UNDECIDED


class Agreement(Enum):
    """What a comparison came to."""

    AGREED = "agreed"
    DISAGREED = "disagreed"
    INCOMPLETE = "incomplete"


EXIT_CODES: Final = {Agreement.AGREED: OK, Agreement.DISAGREED: BROKEN, Agreement.INCOMPLETE: UNDECIDED}


def setting(found: Disagreement) -> str:
    """Say how large the world of a disagreement is, as flags of `farref check`."""
    return shlex.join(flags(found.bounds, protocol_of(found.bounds).said_always))


def violations(found: Disagreement) -> list[dict[str, str]]:
    """Give the properties that were seen violated, for machines."""
    return [one._asdict() for one in found.violated]


def show_differed(page: Console, saved: DisagreementRecord) -> None:
    """Print what differed at the end of a run when it was saved."""
    page.print(f"What differed when it was saved, on the {saved.backend} backend:", style="bold")
    for line in saved.difference:
        page.print(f"  {line}", soft_wrap=True)
    if saved.note:
        page.print(f"note: {saved.note}", style="yellow")


def show_disagreement(page: Console, found: Disagreement) -> None:
    """Print a disagreement as a numbered story, with the difference of the two observations."""
    page.print()
    after = f" after {len(found.actions)} steps" if found.actions else ""
    page.print(f"{found.headline[0].upper()}{found.headline[1:]}{after}", style="bold red")
    page.print(f"in the world {setting(found)}", soft_wrap=True)
    page.print(numbered(found.story))
    differs = found.actions and not found.is_shared and found.has_model
    page.print("What only one of them has:" if differs else "What is wrong:", style="bold")
    for line in found.lines:
        page.print(f"  {line}", soft_wrap=True)
