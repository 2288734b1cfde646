"""`farref zoo`: what is wrong on purpose, and who finds out."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import click

from farref.options.groups import format_option, quiet_option
from farref.properties.zoo.catalogue import everybody
from farref.properties.zoo.creature import Creature
from farref.properties.zoo.survivors import ARGUMENTS
from farref.rendering.zoo import told, zoo_document
from farref.terminal.exits import BROKEN, OK
from farref.terminal.files import print_json
from farref.terminal.output import put, remark
from farref.terminal.progress import saying
from farref.words import counted
from farref.zookeeping import record
from farref.zookeeping.engines import ENGINES
from farref.zookeeping.keeper import judge
from farref.zookeeping.outcome import Engine, Outcome
from farref.zookeeping.record import Evidence

Pair = tuple[Creature, Engine]
SAVED_EACH: Final = 10


@click.command()
@click.option(
    "--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)), help="Ask this engine. Default all."
)
@click.option(
    "--mutant", "patterns", multiple=True, metavar="NAME", help="Take this creature, or all that match: owner.*"
)
@click.option("--survivors", is_flag=True, help="Take only what no engine has killed yet.")
@click.option("--unasked", is_flag=True, help="Leave out what the record has: go on where it was interrupted.")
@click.option("--stale", is_flag=True, help="Take only what was measured on a commit that is not in this history.")
@click.option(
    "--list", "listed", is_flag=True, help="List the creatures and who killed them when it was last measured."
)
@click.option(
    "--record", "place", type=click.Path(dir_okay=False), metavar="FILE", help="Enter the outcomes in this file."
)
@format_option("pretty", "json")
@quiet_option
def zoo(**given: Any) -> int:
    """Let what is wrong on purpose loose, and say which engine kills it, after how much, and how.

    A creature of the zoo is wrong in one way: a handler that makes a mistake, the core without one of its guards, the protocol
    without a rule, a judge that does not look at a property, a whole backend that breaks a clause. It has a name, a place,
    a sentence, a clause and an origin. Engines are the proof, the check, TLC, Hypothesis, campaigns, storms, crash points, real
    processes, the kit and the unit tests. Each takes those that it can say something about.

    The outcomes of the whole zoo are kept in properties/zoo/evidence.json, with the commit and the machine. A creature that
    an engine killed then, and does not kill now, is an error: exit code 1.

    \b
    farref zoo --list                                     all creatures, where they come from, who killed them
    farref zoo --mutant fetch_does_not_pin                one of them, with every engine that takes it
    farref zoo --mutant 'owner.*' --engine simulated      the owner without each of its guards
    farref zoo --engine check                             every rule, and every property that nobody looks at
    farref zoo --record properties/zoo/evidence.json                all of it: some hours
    farref zoo --stale --record properties/zoo/evidence.json        only what no commit of today's history stands for
    """
    place = Path(given["place"]) if given["place"] is not None else None
    known = record.read(record.PLACE if place is None else place)
    pairs = list(_chosen(given, known))
    if not pairs:
        raise click.UsageError(
            "no creature with such a name is taken by such an engine; `farref zoo --list` has all names"
        )
    if given["listed"]:
        put(told({one.name: one for one, _ in pairs}, known, ARGUMENTS))
        return OK
    return _let_loose(pairs, known, place, given)


def _chosen(given: dict[str, Any], known: Evidence) -> Iterator[Pair]:
    stale = known.stale() if given["stale"] else None
    for creature in everybody().values():
        if given["patterns"] and not any(fnmatch(creature.name, one) for one in given["patterns"]):
            continue
        if given["survivors"] and known.killers(creature.name):
            continue
        for name, engine in ENGINES.items():
            is_known = given["unasked"] and known.outcome(creature.name, name) is not None
            is_current = stale is not None and (creature.name, name) not in stale
            is_left_out = is_known or is_current or (given["engines"] and name not in given["engines"])
            if not is_left_out and engine.takes(creature):
                yield creature, engine


def _let_loose(pairs: list[Pair], known: Evidence, place: Path | None, given: dict[str, Any]) -> int:
    """Judge each in turn. What is recorded is written now and then, so that an interrupt loses little."""
    lost: list[str] = []
    done: list[tuple[Creature, Engine, Outcome]] = []
    here = record.here()
    with saying(quiet=given["quiet"]) as say:
        for number, (creature, engine) in enumerate(pairs, start=1):
            say(f"{number} of {counted(len(pairs), 'case')}: {creature.name} with {engine.name}")
            before, outcome = known.outcome(creature.name, engine.name), judge(engine, creature)
            done.append((creature, engine, outcome))
            if before is not None and before.killed and not outcome.killed:
                lost.append(f"{creature.name} was killed by {engine.name} when it was last measured, and survives now")
            elif place is not None:
                judged = record.Judged(outcome=outcome, stamp=known.stamp(here))
                known.zoo.setdefault(creature.name, {})[engine.name] = judged
            if place is not None and (number % SAVED_EACH == 0 or number == len(pairs)):
                record.write(known, place)
    if given["form"] == "json":
        print_json(zoo_document(done, lost))
    else:
        put(told({one.name: one for one, _, _ in done}, _of(done), ARGUMENTS))
    for line in lost:
        remark(line)
    return BROKEN if lost else OK


def _of(done: list[tuple[Creature, Engine, Outcome]]) -> Evidence:
    """Give what was measured now as if it were all there is."""
    evidence = Evidence()
    for creature, engine, outcome in done:
        evidence.zoo.setdefault(creature.name, {})[engine.name] = record.Judged(outcome=outcome, stamp=0)
    return evidence
