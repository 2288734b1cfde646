"""Outcomes of the zoo, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from farref.properties.zoo.creature import Creature
from farref.words import counted
from farref.zookeeping.engines import ENGINES
from farref.zookeeping.outcome import Engine, Outcome
from farref.zookeeping.record import Evidence, Judged


def told(creatures: Mapping[str, Creature], evidence: Evidence, arguments: Mapping[str, str]) -> str:
    """Tell of each creature what is wrong with it and what became of it."""
    lines: list[str] = []
    for creature in creatures.values():
        lines += [f"{creature.name}  ({creature.clause}, {creature.origin})", f"    {creature.says}"]
        outcomes = evidence.zoo.get(creature.name, {})
        lines += [f"    {_said(name, one)}" for name, one in outcomes.items()]
        if not evidence.killers(creature.name):
            lines.append(f"    {arguments.get(creature.name, 'open: nothing is known to kill it')}")
        story = _shortest(outcomes)
        lines += (
            [f"      {number:2} {line}" for number, line in enumerate(story, start=1)] if len(creatures) == 1 else []
        )
    return "\n".join([*lines, "", _sum(creatures, evidence, arguments)])


def _said(name: str, judged: Judged) -> str:
    outcome = judged.outcome
    after = f"after {outcome.after:,} {ENGINES[name].unit}, {outcome.seconds:.1f} s"
    return f"{name}: killed {after}: {outcome.by}" if outcome.killed else f"{name}: survives {after}"


def _shortest(outcomes: Mapping[str, Judged]) -> tuple[str, ...]:
    return min((one.outcome.story for one in outcomes.values() if one.outcome.story), key=len, default=())


def _sum(creatures: Mapping[str, Creature], evidence: Evidence, arguments: Mapping[str, str]) -> str:
    dead = [name for name in creatures if evidence.killers(name)]
    argued = [name for name in creatures if name not in dead and name in arguments]
    left = len(creatures) - len(dead) - len(argued)
    return (
        f"{counted(len(creatures), 'creature')}: {len(dead)} killed, {len(argued)} survive with a reason, {left} open"
    )


def zoo_document(done: Sequence[tuple[Creature, Engine, Outcome]], lost: Sequence[str]) -> dict[str, Any]:
    """Give what was found, for another program."""
    rows = [
        {"creature": creature.name, "clause": creature.clause, "origin": creature.origin, "engine": engine.name}
        | {"killed": one.killed, "by": one.by, "after": one.after, "unit": engine.unit, "seconds": one.seconds}
        | {"story": list(one.story)}
        for creature, engine, one in done
    ]
    return {"outcomes": rows, "lost": list(lost)}
