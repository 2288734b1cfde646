"""What `farref prove` found, for people, for machines and for a README."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from farref.properties.proof.induction.prove import Outcome
from farref.properties.proof.induction.tell import Told
from farref.properties.proof.induction.theory import Verdict
from farref.properties.proof.needed import NOT_SPOKEN_OF, Needed
from farref.properties.proof.subjects import Subject
from farref.rendering.layout import plain_table
from farref.terminal.exits import BROKEN, OK, UNDECIDED
from farref.words import counted

MARKS: Final = {
    Verdict.PROVED.value: ("✓ proved", "green"),
    Verdict.REFUTED.value: ("✗ refuted", "bold red"),
    Verdict.UNKNOWN.value: ("? unknown", "yellow"),
}
NEEDED: Final = {
    Verdict.REFUTED.value: ("✓ refuted", "green"),
    Verdict.PROVED.value: ("✗ proved all the same", "bold red"),
    Verdict.UNKNOWN.value: ("? unknown", "yellow"),
    NOT_SPOKEN_OF: ("- not spoken of", "dim"),
}


@dataclass(frozen=True)
class Judged:
    """A theorem, what a solver made of it, and the counterexamples to what was not proved."""

    outcome: Outcome
    verdict: Verdict
    told: tuple[Told, ...] = ()


@dataclass(frozen=True)
class Proved:
    """Everything that a call of `farref prove` came to."""

    subject: Subject
    theorems: tuple[Judged, ...] = ()
    rules: tuple[Needed, ...] = ()
    without: str | None = None
    only: tuple[str, ...] = ()
    is_whole: bool = True

    @property
    def told(self) -> tuple[str, Told] | None:
        """The first counterexample, and the theorem that it is about."""
        return next(((one.outcome.theorem.id, told) for one in self.theorems for told in one.told), None)

    @property
    def exit_code(self) -> int:
        """What the process ends with. Of rules, each must be needed; of theorems, each must be proved."""
        verdicts = [one.verdict for one in self.theorems]
        if Verdict.REFUTED in verdicts or any(one.verdict == Verdict.PROVED.value for one in self.rules):
            return BROKEN
        if not self.is_whole or Verdict.UNKNOWN in verdicts or not all(one.is_shown for one in self.rules):
            return UNDECIDED
        return OK


# -- for machines ------------------------------------------------------------------------------------------------------


def proved_document(proved: Proved) -> dict[str, Any]:
    """Say everything in one JSON object."""
    return {
        "subject": proved.subject.name,
        "without": proved.without,
        "only": list(proved.only),
        "theorems": [_theorem(one) for one in proved.theorems],
        "rules": [_rule(one) for one in proved.rules],
    }


def _theorem(one: Judged) -> dict[str, Any]:
    found = one.outcome
    return {
        "id": found.theorem.id,
        "text": found.theorem.text,
        "clauses": len(found.theorem.invariant),
        "steps": found.steps,
        "queries": found.queries,
        "seconds": round(found.seconds, 2),
        "solver": found.solver,
        "verdict": one.verdict.value,
        "impossible": list(found.impossible),
        "lost": [{"claim": lost.claim, "step": lost.place, "answer": lost.answer.value} for lost in found.failures],
        "counterexamples": [told_document(told) for told in one.told],
    }


def _rule(one: Needed) -> dict[str, Any]:
    found = {"rule": one.rule, "theorem": one.theorem, "lost": one.lost, "step": one.step, "verdict": one.verdict}
    return {**found, "why": one.why, "counterexample": None if one.told is None else told_document(one.told)}


def told_document(told: Told) -> dict[str, Any]:
    """Say a counterexample as one JSON object."""
    rows = [{"thing": row.thing, "before": list(row.before), "after": _listed(row.after)} for row in told.rows]
    return {"step": told.step, "lost": told.lost, "text": told.text, "states": rows}


def _listed(parts: Iterable[str] | None) -> list[str] | None:
    return None if parts is None else list(parts)


# -- for a README ------------------------------------------------------------------------------------------------------

THEOREM_COLUMNS: Final = ("theorem", "clauses", "steps", "queries", "seconds", "solver", "verdict")
RULE_COLUMNS: Final = ("rule", "theorem", "lost", "step", "verdict")


def proved_markdown(proved: Proved) -> str:
    """Write the table for a README."""
    if proved.rules:
        rows = [[one.rule, one.theorem or "", one.lost or "", one.step or one.why, one.verdict] for one in proved.rules]
        return _markdown(RULE_COLUMNS, rows)
    return _markdown(THEOREM_COLUMNS, [_cells(one) for one in proved.theorems])


def _markdown(columns: Sequence[str], rows: list[list[str]]) -> str:
    numbers = ("clauses", "steps", "queries", "seconds")
    ruler = ["---:" if name in numbers else "---" for name in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in (columns, ruler, *rows))


def _cells(one: Judged) -> list[str]:
    found = one.outcome
    counts = (len(found.theorem.invariant), found.steps, found.queries)
    return [
        found.theorem.id,
        *(f"{count:,}" for count in counts),
        f"{found.seconds:.1f}",
        found.solver,
        one.verdict.value,
    ]


# -- for people --------------------------------------------------------------------------------------------------------


def show_proved(console: Console, proved: Proved) -> None:
    """Print what was proved, or why not."""
    rules = f" without {proved.without}" if proved.without else ""
    console.print(f"{proved.subject.name}{rules}: {proved.subject.text}", style="bold")
    if proved.only:
        console.print(f"note: only the questions about {', '.join(proved.only)} were asked", style="yellow")
    if not proved.is_whole:
        console.print("note: interrupted, so not everything was asked", style="yellow")
    console.print(_rules_table(proved.rules) if proved.rules else _theorems_table(proved.theorems))
    for one in proved.theorems:
        for text in one.outcome.impossible:
            console.print(
                f"note: {one.outcome.theorem.id} says little: its invariant rules out that {text}", style="yellow"
            )
    for told in [told for one in proved.theorems for told in one.told]:
        show_told(console, told)
    for rule in proved.rules:
        if rule.told is not None:
            console.print(f"\nWithout {rule.rule}:", style="bold")
            show_told(console, rule.told)
    console.print(_conclusion(proved))


def _theorems_table(theorems: Sequence[Judged]) -> Table:
    table = plain_table()
    for name in THEOREM_COLUMNS:
        table.add_column(name, justify="right" if name in ("clauses", "steps", "queries", "seconds") else "left")
    for one in theorems:
        *cells, _ = _cells(one)
        table.add_row(*cells, Text(*MARKS[one.verdict.value]))
    return table


def _rules_table(rules: Sequence[Needed]) -> Table:
    table = plain_table()
    for name in RULE_COLUMNS:
        table.add_column(name)
    for one in rules:
        table.add_row(one.rule, one.theorem, one.lost, one.step or one.why, Text(*NEEDED[one.verdict]))
    return table


def show_told(console: Console, told: Told) -> None:
    """Print a counterexample: both states beside each other, with what the step changes, and what is lost."""
    has_after = any(row.after is not None for row in told.rows)
    table = plain_table()
    for name in ("", "before", *(["after"] if has_after else [])):
        table.add_column(name, ratio=None if not name else 1)
    for row in told.rows:
        after = () if row.after is None else row.after
        cells = [_phrases(row.before, after if has_after else row.before)]
        cells += [_phrases(after, row.before)] if has_after else []
        table.add_row(row.thing, *cells)
    console.print(f"{told.step}" if has_after else "A state that the invariant allows:")
    console.print(table)
    console.print(Text.assemble(("lost: ", "bold red"), f"{told.lost}: {told.text}"))


def _phrases(parts: Sequence[str], others: Sequence[str]) -> Text:
    """List what is true, each on its line; what is true only here stands out."""
    lines = [(f"{'' if part in others else '* '}{part}", "" if part in others else "bold") for part in parts]
    return Text("\n").join(Text(*line) for line in lines)


def _conclusion(proved: Proved) -> Text:
    code = proved.exit_code
    if proved.rules:
        asked = [one for one in proved.rules if one.verdict != NOT_SPOKEN_OF]
        said = f"{counted(len(asked), 'rule')}: without each, a clause is lost"
        return Text(f"✓ {said}", "green") if code == OK else Text(f"✗ not shown: {said}", "bold red")
    words = {
        OK: (
            "✓ proved, for any number of everything" if not proved.only else "✓ proved, as far as it was asked",
            "green",
        ),
        BROKEN: ("✗ refuted: the clause is not kept", "bold red"),
        UNDECIDED: ("? nothing is proved", "yellow"),
    }
    return Text(*words[code])
