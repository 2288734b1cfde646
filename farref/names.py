"""What a name in the spec stands for, other than a clause: a property, a known defect, a rule, a situation, or a check.

The output of every command uses these names, so `farref spec` explains each of them: what must hold, the clause that says so,
and the command that checks it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Final

from farref.clauses import clauses, defects, requirements
from farref.properties.conformance.kit.suite import gathered
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED

NUMBERED: Final = re.compile(r"([A-Z])(\d+)")


class Sort(Enum):
    """The sorts of name there are."""

    PROPERTY = "property"
    CLAIM = "claim"
    GAP = "gap"
    RULE = "rule"
    SITUATION = "situation"
    DEFECT = "defect"
    PROOF = "clause of a proof"
    REQUIREMENT = "requirement"
    CHECK = "check of the kit"


@dataclass(frozen=True)
class Named:
    """Something with a name: what it is, what must hold, where that is stated, and how to check it."""

    id: str
    kind: Sort
    subject: str
    what: str
    """What it is, in a sentence."""
    must_hold: str
    """The sentence that must hold; empty for a defect that the model cannot express."""
    clause: str
    """The clause that states it; empty where none does."""
    commands: tuple[str, ...]


@cache
def names() -> tuple[Named, ...]:
    """Give everything with a name. A rule of both protocols is there twice."""
    modelled = [one for about in CHECKED.values() for one in _named(about)]
    claimed = {one.id for one in modelled}
    unmodelled = (_unmodelled(name, title) for name, title in defects().items() if name not in claimed)
    return (*modelled, *unmodelled, *_proved(), *_required(), *_judged())


def find_names(name: str) -> list[Named]:
    """Find what has a name, however it is spelled."""
    return [one for one in names() if one.id.lower() == name.lower()]


def what_there_is(name: str) -> str:
    """Say in one line that nothing has a name, and which names there are."""
    near = get_close_matches(name.lower(), [one.id for one in names() if not NUMBERED.match(one.id)], n=1)
    meant = f"did you mean {near[0]}? " if near else ""
    clause, property_, defect = map(_ranges, (clauses(), _of(Sort.PROPERTY), _of(Sort.CLAIM, Sort.DEFECT, Sort.GAP)))
    proof, rule = _ranges(_of(Sort.PROOF)), _of(Sort.RULE)[0]
    numbered = (
        f"clauses {clause}, properties {property_}, known defects {defect}, clauses of proofs {proof}, "
        f"requirements on transports {_ranges(_of(Sort.REQUIREMENT))}, checks of the kit such as {_of(Sort.CHECK)[0]}"
    )
    return f"nothing in the spec is called {name!r}; {meant}there are {numbered}, and rules such as {rule}"


def _of(*sorts: Sort) -> list[str]:
    return [one.id for one in names() if one.kind in sorts]


def _ranges(ids: Iterable[str]) -> str:
    """Write ids in short: P1 to P10, G1, G2."""
    letters: dict[str, set[int]] = {}
    for letter, number in NUMBERED.findall(" ".join(ids)):
        letters.setdefault(letter, set()).add(int(number))
    return ", ".join(_run(letter, run) for letter, numbers in letters.items() for run in _runs(sorted(numbers)))


def _runs(numbers: list[int]) -> list[list[int]]:
    """Cut numbers where one is missing."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _run(letter: str, numbers: list[int]) -> str:
    joined = " to " if len(numbers) > 2 else ", "
    return joined.join(f"{letter}{number}" for number in dict.fromkeys((numbers[0], numbers[-1])))


# -- each sort of name --------------------------------------------------------------------------------------------------


def _named(about: AnySubject) -> Iterator[Named]:
    yield from _properties(about)
    yield from _claims(about)
    yield from _gaps(about)
    yield from _rules(about)
    yield from _situations(about)


def _properties(about: AnySubject) -> Iterator[Named]:
    for one in about.properties(about.broadest):
        what = f"A property of {about.name}, which must hold {HOW_OFTEN[one.kind.value]}."
        yield Named(one.id, Sort.PROPERTY, about.name, what, one.text, one.clause, (_check(about, "--claim", one.id),))


HOW_OFTEN: Final = {"always": "in every state", "eventually": "in the end, in every run"}


def _claims(about: AnySubject) -> Iterator[Named]:
    for one in about.claims.values():
        what = f"A known defect of PyTorch 2.13: {one.title}. {one.text}"
        commands = (_check(about, "--profile", "torch", "--claim", one.id), _check(about, "--claim", one.id))
        yield Named(one.id, Sort.CLAIM, about.name, what, one.must_hold(), one.clause, commands)


def _gaps(about: AnySubject) -> Iterator[Named]:
    for one in about.gaps.values():
        without = str(one.without)
        what = f"What rules do without {without}, where a link breaks and both ends live: {one.title}. {one.text}"
        commands = (_check(about, "--without", without, "--claim", one.id), _check(about, "--claim", one.id))
        yield Named(one.id, Sort.GAP, about.name, what, one.must_hold(), one.clause, commands)


def _rules(about: AnySubject) -> Iterator[Named]:
    for rule in about.rules:
        text = about.text_of(rule)
        command = _check(about, "--without", rule)
        what = f"A rule of {about.name}, which can be switched off to see what it is there for."
        yield Named(
            rule, Sort.RULE, about.name, what, f"{text[0].upper()}{text[1:]}.", about.clause_of(rule), (command,)
        )


def _situations(about: AnySubject) -> Iterator[Named]:
    known = {one.id: one for world in about.portfolio for one in about.witnesses(world.bounds)}
    for one in known.values():
        what = f"A situation of {about.name} that some run must reach: a search that never meets it would show little."
        yield Named(one.id, Sort.SITUATION, about.name, what, one.text, one.clause, (_check(about),))


def _proved() -> Iterator[Named]:
    """Name the clauses of the invariants that `farref prove` is about."""
    for subject in SUBJECTS.values():
        for theorem in subject.theorems:
            for one in theorem.invariant:
                what = f"A clause of the proof of {theorem.id} ({subject.name}), which every step keeps."
                command = f"farref prove {subject.name} --only {one.id}"
                yield Named(one.id, Sort.PROOF, subject.name, what, one.text, one.serves.partition(",")[0], (command,))


def _required() -> Iterator[Named]:
    """Name what is asked of a transport."""
    for one in requirements():
        what = f"A requirement on transports, in a table of spec/{one.page}."
        yield Named(one.id, Sort.REQUIREMENT, "transport", what, one.text, one.clause, ())


def _judged() -> Iterator[Named]:
    """Name the checks of the kit, but for those that are named as their clauses are."""
    for one in gathered().values():
        if one.id != one.clause:
            what = f"A check of the conformance kit ({one.level.value}). It needs {', '.join(sorted(one.needs))}."
            yield Named(
                one.id,
                Sort.CHECK,
                "kit",
                what,
                one.says,
                one.clause,
                (f"farref conform --backend simulated --only {one.id}",),
            )


def _unmodelled(name: str, title: str) -> Named:
    what = f"A known defect of PyTorch 2.13 that the model cannot express. {title}: see spec/differences.md."
    return Named(name, Sort.DEFECT, "rref", what, "", "", ())


def _check(about: AnySubject, *words: str) -> str:
    return " ".join(("farref check", about.name, *words))
