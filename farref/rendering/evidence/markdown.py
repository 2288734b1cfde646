"""The evidence as Markdown: `spec/evidence/README.md`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from farref.rendering.evidence import figures
from farref.rendering.evidence.figures import PROTOCOLS, UNSEEN, Fate
from farref.zookeeping.engines import ENGINES
from farref.zookeeping.record import Evidence

OPENING = """# Evidence

What would a wrong protocol have to get past? This page counts it, engine by engine. It is made from
`properties/zoo/evidence.json`, which the commands below write, with the commit and the machine of each measurement:

```console
RECORD=properties/zoo/evidence.json
farref zoo --record $RECORD                                      # what is wrong on purpose, and who kills it
farref evidence --measure coverage --seconds 60 --seconds 600 --record $RECORD   # how much of a small world is visited
farref evidence --measure transitions --seconds 200 --record $RECORD  # what was seen of real processes
farref evidence -o evidence.html                                 # this page, with every creature and its story
```
"""

TAKEN = """An engine takes those that it can say something
about: a proof knows rules and no handlers, and the kit is asked only about what it has a check for. Storms, crash points and
unit tests were asked mostly about what others left alive, so their rates say little about them alone. A dash is an engine
that was not asked here. TLC and Hypothesis look for a rule that is off in the world in which our check finds it. Hypothesis
draws steps of the sound protocol only: a rule without which more can happen is not seen by that."""

VISITED = """States are the model's, and their number is known exactly. An engine has visited a state when the model stood in
it beside the implementation, and both looked the same. Each draws the same worlds for as long; a dash is a time that was not
measured."""

SEEN = """For each action of the model: how many transitions of real processes were seen that the model
allows, with equal tables after."""


def page(evidence: Evidence) -> str:
    """Write the whole page."""
    found = figures.fates(evidence)
    parts = [
        OPENING, _stamps(evidence), _kills(found), _origins(found), _survivors(found), _coverage(evidence),
        _transitions(evidence), _unseen(),
    ]  # fmt: skip
    return "\n".join(parts)


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: int = 1) -> str:
    """Write a table; all columns but the first `right` ones are numbers."""
    line = ["---" if number < right else "---:" for number in range(len(headings))]
    cells = [[str(one).replace("|", "\\|") for one in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(headings), line, *cells]) + "\n"


def _stamps(evidence: Evidence) -> str:
    rows = [f"- {one.date}, commit `{one.commit}`, {one.machine}" for one in evidence.stamps]
    return "Measured on:\n\n" + "\n".join(rows) + "\n"


def _kills(found: list[Fate]) -> str:
    rates = figures.kill_rates(found)
    rows = [
        [f"**{name}**: {one.text}", *(rates[name][about].share for about in PROTOCOLS.values())]
        for name, one in ENGINES.items()
    ]
    intro = f"## Who kills what\n\nThere are {len(found)} creatures in the zoo (`farref zoo --list`). {TAKEN}\n"
    return f"{intro}\n{table(['engine', *PROTOCOLS.values()], rows)}"


def _origins(found: list[Fate]) -> str:
    counted = figures.by_origin(found)
    rows = [[name, *numbers] for name, numbers in counted.items()]
    total = ["all", *(sum(row[number] for row in counted.values()) for number in range(4))]
    return f"By where they come from:\n\n{table(['origin', 'creatures', 'killed', 'argued', 'open'], [*rows, total])}"


def _survivors(found: list[Fate]) -> str:
    alive = [fate for fate in found if not fate.killers]
    argued = [[f"`{one.creature.name}`", one.creature.says, one.argument] for one in alive if one.argument]
    left = [[f"`{one.creature.name}`", one.creature.says, _tried(one)] for one in alive if one.is_open]
    text = "## Who survives\n\nThese have a written argument. It is a reading of the source, and nothing checks it.\n\n"
    text += table(["creature", "what is wrong", "why it survives"], argued, right=3)
    if not left:
        return text + "\nOpen: none. Every other creature is killed by some engine.\n"
    text += "\nOpen: nothing is known to kill these, and nobody has said why.\n\n"
    return text + table(["creature", "what is wrong", "asked"], left, right=3)


def _tried(fate: Fate) -> str:
    return (
        ", ".join(f"{name} ({one.after:,} {ENGINES[name].unit})" for name, one in fate.outcomes.items()) or "nobody yet"
    )


def _when(evidence: Evidence, measure: Mapping[str, Any]) -> str:
    if not measure:
        return ""
    stamp = evidence.stamps[measure["stamp"]]
    return f"Measured on {stamp.date}, at commit `{stamp.commit}`."


def _coverage(evidence: Evidence) -> str:
    text = f"## How much of a small world is visited\n\n{VISITED} {_when(evidence, evidence.coverage)}\n"
    for name, world in evidence.coverage.items():
        if name == "stamp":
            continue
        text += f"\n{figures.searched(name, world)}\n\n"
        text += f"![Share of the states of {name} that each engine visited, over seconds](../drawings/coverage-{name}.svg)\n\n"
        rows = [[engine, *shares] for engine, shares in figures.engines_of(world).items()]
        text += table(["engine", *figures.MARKS], rows)
    return text


def _transitions(evidence: Evidence) -> str:
    text = f"## Transitions of real processes\n\n{SEEN} {_when(evidence, evidence.transitions)}\n"
    for name, seen in evidence.transitions.items():
        if name == "stamp":
            continue
        actions = seen["actions"]
        never = figures.unseen_actions(actions)
        text += f"\n{name}: {figures.held(seen)} Drawn in turn:\n\n"
        text += "".join(f"- {line}\n" for line in figures.drawn_by(seen)) + "\n"
        text += table(["action", "seen"], [[one, f"{number:,}"] for one, number in actions.items() if number])
        text += f"\nNever seen: {', '.join(never) or 'none'}.\n"
    return text


def _unseen() -> str:
    return "## What no engine can see\n\n" + "\n".join(f"- {line}" for line in UNSEEN) + "\n"
