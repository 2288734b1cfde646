"""`farref replay --validate`: is the log of a real run a behaviour of the model?"""

from __future__ import annotations

import time
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from farref.properties.logs.format import SUBJECT, Event, Log
from farref.properties.logs.validate import LogFinding, LogVerdict, validate
from farref.terminal.exits import BROKEN, OK, UNDECIDED
from farref.terminal.logs import read_log
from farref.words import counted

EXIT_CODES: Final = {LogVerdict.ACCEPTED: OK, LogVerdict.REFUSED: BROKEN, LogVerdict.UNDECIDED: UNDECIDED}
STYLES: Final = {LogVerdict.ACCEPTED: "bold green", LogVerdict.REFUSED: "bold red", LogVerdict.UNDECIDED: "bold yellow"}


class Validated:
    """A log, and what was found in it."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        begin = time.monotonic()
        self.log: Log = read_log(paths)
        self.finding: LogFinding | None = validate(self.log)
        self.seconds = time.monotonic() - begin

    @property
    def outcome(self) -> LogVerdict:
        """Accepted if nothing was found."""
        return LogVerdict.ACCEPTED if self.finding is None else self.finding.outcome

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        return EXIT_CODES[self.outcome]


def validated_document(validated: Validated) -> dict[str, Any]:
    """Give the findings as they are printed for machines."""
    log, finding = validated.log, validated.finding
    event = None if finding is None else finding.event
    return {
        "subject": SUBJECT,
        "workers": log.names,
        "unlogged": log.unlogged,
        "events": log.events,
        "verdict": validated.outcome.value,
        "event": event,
        "text": None if event is None else told(log, event),
        "reason": None if finding is None else finding.reason,
        "seconds": round(validated.seconds, 3),
    }


def show_validated(page: Console, validated: Validated) -> None:
    """Print the findings for people."""
    log, finding = validated.log, validated.finding
    silent = f"; no log of {', '.join(log.unlogged)}" if log.unlogged else ""
    page.print(f"{counted(log.events, 'event')} of {counted(len(log.workers), 'worker')}{silent}")
    if finding is not None and finding.event is not None:
        page.print(Text(told(log, finding.event)), soft_wrap=True)
    if finding is not None:
        about = f" (RRef {finding.rref})" if finding.event is None and finding.rref else ""
        page.print(f"  {finding.reason}{about}", soft_wrap=True)
    page.print(Text(_conclusion(validated.outcome), STYLES[validated.outcome]))


def told(log: Log, event: Event) -> str:
    """Say an event in one line."""
    name = log.names[event.worker]
    what = f"receives {event.message}" if event.event == "receive" else event.event
    source = "" if event.source is None else f" from {log.names[event.source]}"
    to = "" if event.to is None else f" to {log.names[event.to]}"
    about = [f"RRef {event.rref}"] if event.rref else []
    about += [f"fork {event.fork}"] if event.fork else []
    return f"event {event.number} of {name}: {what}{source}{to}{', ' if about else ''}{', '.join(about)}"


def _conclusion(outcome: LogVerdict) -> str:
    match outcome:
        case LogVerdict.ACCEPTED:
            return "ACCEPTED: a behaviour of the model has all of these events."
        case LogVerdict.REFUSED:
            return "REFUSED: no behaviour of the model has this event here; it is the first such."
        case LogVerdict.UNDECIDED:
            return "UNDECIDED: no behaviour was found, and not everything is logged."
