"""What `farref fuzz` has found, for machines and for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from farref.properties.traces.disagreement import record_disagreement
from farref.properties.traces.file import Trace
from farref.properties.twin.backends.known import FREE_BACKENDS
from farref.properties.twin.tally import Tally
from farref.properties.twin.twin import Disagreement
from farref.rendering.agreement import EXIT_CODES, Agreement, setting, show_disagreement, violations
from farref.words import counted

OVERTIME: Final = "went on for {:.0f} s: when its time was up, not every allowed fault had happened (a busy machine?)"


@dataclass(frozen=True)
class Fuzzed:
    """A campaign, and its disagreement as short as it could be made."""

    backend: str
    tally: Tally
    disagreement: Disagreement | None
    command: str  # which takes the disagreeing schedule again
    is_excerpt: bool = False
    """Whether certain schedules were asked for: then it is no matter which faults they have."""

    @property
    def subject(self) -> str:
        """The protocol."""
        return self.tally.protocol.name

    @property
    def is_free(self) -> bool:
        """Say whether the backend ran by itself."""
        return self.backend in FREE_BACKENDS[self.subject]

    @property
    def terms(self) -> tuple[str, str, str]:
        """How the backend was judged, what was counted, and what was right if all was: a free one says so itself."""
        found = FREE_BACKENDS[self.subject].get(self.backend)
        lockstep = ("and the model in lockstep", "steps, each compared", "after every step")
        return lockstep if found is None else found.terms  # type: ignore[attr-defined]

    @property
    def verdict(self) -> Agreement:
        """Agreed only if every fault that was allowed also happened: otherwise nothing was shown."""
        if self.disagreement is not None:
            return Agreement.DISAGREED
        tally = self.tally
        shown = tally.schedules and not self._never_fired and not tally.stopped
        return Agreement.AGREED if shown else Agreement.INCOMPLETE

    @property
    def _never_fired(self) -> list[str]:
        return [] if self.is_excerpt else self.tally.never_fired

    @property
    def exit_code(self) -> int:
        """What the process ends with."""
        return EXIT_CODES[self.verdict]

    @property
    def trace(self) -> Trace | None:
        """The run of the disagreement, for a file."""
        found = self.disagreement
        return None if found is None else record_disagreement(found)

    @property
    def notes(self) -> list[str]:
        """Why nothing was shown, why it took longer, and why a disagreement is not as short as it could be."""
        found = self.disagreement
        never = self._never_fired if found is None else []
        notes = [f"allowed, and never happened: {', '.join(never)}; run more schedules"] if never else []
        notes += [found.note] if found is not None and found.note else []
        notes += [OVERTIME.format(self.tally.seconds)] if self.tally.overtime else []
        return [*notes, self.tally.stopped] if self.tally.stopped else notes


def fuzz_document(fuzzed: Fuzzed) -> dict[str, Any]:
    """Give the findings of a campaign as they are printed for machines."""
    tally, found = fuzzed.tally, fuzzed.disagreement
    return {
        "subject": fuzzed.subject,
        "backend": fuzzed.backend,
        "seed": tally.seed,
        "schedules": tally.schedules,
        "steps": tally.steps,
        "judged": tally.judged,
        "disagreements": int(found is not None),
        "faults": {fault: tally.faults[fault] for fault in tally.told},
        "sometimes": tally.sometimes,
        **({"drawn": {one: tally.drawn[one] for one in tally.draws}} if tally.draws else {}),
        "seconds": round(tally.seconds, 3),
        "trace_hash": tally.trace_hash,
        "verdict": fuzzed.verdict.value,
        "notes": fuzzed.notes,
        "disagreement": None
        if found is None
        else {
            "world": setting(found),
            "story": found.story,
            "difference": list(found.lines),
            "violated": violations(found),
            "replay": fuzzed.command,
        },
    }


def show_fuzz(page: Console, fuzzed: Fuzzed) -> None:
    """Print the findings of a campaign for people."""
    tally, reached = fuzzed.tally, fuzzed.tally.sometimes
    how, what, well = fuzzed.terms
    page.print(f"{fuzzed.subject}: the {fuzzed.backend} backend {how}, seed {tally.seed}", style="bold")
    rate = tally.schedules / tally.seconds if tally.seconds else 0.0
    counts = f"{counted(tally.schedules, 'schedule')}, {tally.steps:,} {what}"
    page.print(f"{counts}, in {tally.seconds:.1f} s ({rate:,.0f} schedules/s)")
    if not fuzzed.is_free:
        page.print(f"properties: evaluated after {tally.judged:,} of the steps, drawn from the seed, and at each end")
    page.print(f"faults: {', '.join(f'{tally.faults[fault]:,} {fault}' for fault in tally.told)}")
    missing = ", ".join(name for name, was in reached.items() if not was)
    if not (fuzzed.is_free or fuzzed.is_excerpt or fuzzed.disagreement):  # a free one has no model beside it
        page.print(f"situations: {sum(reached.values())} of {len(reached)}{'; not: ' if missing else ''}{missing}")
    if tally.draws:
        page.print(f"drawn: {', '.join(f'{tally.drawn[one]:,} × {one}' for one in tally.draws)}")
    page.print(f"trace hash: {tally.trace_hash}")
    if fuzzed.disagreement is not None:
        show_disagreement(page, fuzzed.disagreement)
        page.print(Text.assemble(("See it again: ", "bold"), fuzzed.command), soft_wrap=True)
    for note in fuzzed.notes:
        page.print(f"note: {note}", style="yellow")
    page.print(_conclusion(fuzzed.verdict, well))


def _conclusion(verdict: Agreement, what: str) -> Text:
    match verdict:
        case Agreement.AGREED:
            return Text(f"AGREED: {what}, and nothing was left at the end.", "bold green")
        case Agreement.DISAGREED:
            return Text("DISAGREED", "bold red")
        case Agreement.INCOMPLETE:
            return Text(
                "INCOMPLETE: no disagreement, and not enough happened for that to mean something.", "bold yellow"
            )
