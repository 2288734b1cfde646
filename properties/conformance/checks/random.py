"""References made, shared, fetched and let go at random, from a seed: whatever the order, R33 must hold."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.world import World
from farref.properties.logs.format import Log, read_logs
from farref.properties.logs.validate import LogFinding, validate

STEPS = 60
WORLD = ["create", "share", "fetch", "drop"]


def wander(world: World) -> None:
    """Take random steps; every value that is fetched must be right. In the end everybody lets go."""
    walk(world)
    for worker, name in list(world.held):
        world.drop(worker, name)


def walk(world: World) -> dict[str, str]:
    """Take random steps, and let go of some; say who owns what."""
    dice = random.Random(f"references {world.seed}")
    values: dict[str, int] = {}
    owners: dict[str, str] = {}
    for number in range(STEPS):
        held = [one for one in world.held if one[1] in values]
        step = dice.choice(("create", "share", "share", "fetch", "drop")) if held else "create"
        if step == "create":
            values[f"x{number}"] = number
            creator, owners[f"x{number}"] = dice.choice(world.workers), dice.choice(world.workers)
            world.create(creator, f"x{number}", owners[f"x{number}"], "echo", [number])
            continue
        worker, name = dice.choice(held)
        if step == "share":  # also with somebody who has it, and with oneself
            world.share(worker, name, dice.choice(world.workers))
        elif step == "drop":
            world.drop(worker, name)
        else:
            world.finds(worker, name, values[name])
    return owners


@check("R33", needs=[*WORLD, "probe"], after=["R12", "R14", "R26.self", "R19.held", "R24.quick", "R26"])
def at_random(world: World) -> None:
    """Whatever is made, shared, fetched and let go in whatever order: values are right, and nothing is left."""
    wander(world)
    world.empties()


@check(
    "R33.rest",
    needs=[*WORLD, "probe", "probe.owned", "probe.forks", "probe.pending", "probe.children"],
    after=["R33"],
)
def at_rest(world: World) -> None:
    """At rest the tables satisfy the invariant of the proof: what is counted is what is held, and nobody waits."""
    # Where nothing is under way, J13 and J15 leave no pending user, and J16 no child that has not accepted. J20 and J21 say
    # that the owner counts a fork exactly if its user lives, and J23 that an entry is there while anybody has one.
    owners = walk(world)
    for owner in world.workers:
        named = [(worker, name) for worker, name in world.held if owners[name] == owner]
        forks = sum(worker != owner for worker, _ in named)
        world.settles(owner, owned=len({name for _, name in named}), forks=forks, pending=0, children=0)


@check("R33.traced", needs=[*WORLD, "traced"], after=["R33"], alone=True)
def at_random_and_logged(world: World) -> None:
    """What the workers write down of a random run is a behaviour of the model."""
    world.stop()
    with tempfile.TemporaryDirectory() as folder:
        world.start(log=folder)
        wander(world)
        world.stop()
        logs = sorted(Path(folder).glob("*.jsonl"))
        world.expect(bool(logs), "no worker wrote a log")
        log = read_logs((path.name, path.read_bytes()) for path in logs)
    finding = validate(log)
    world.expect(finding is None, "" if finding is None else told(log, finding))


def told(log: Log, finding: LogFinding) -> str:
    """Say what was found in a log."""
    event = finding.event
    if event is None:
        return finding.reason
    what = f"receives {event.message}" if event.event == "receive" else event.event
    about = f" of RRef {event.rref}" if event.rref else ""
    return f"event {event.number} of {log.names[event.worker]} ({what}{about}) is not a step of the model: {finding.reason}"
