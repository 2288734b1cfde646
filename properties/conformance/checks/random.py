"""References made, shared, fetched and let go at random, from a seed: whatever the order, R33 must hold."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from farref.properties.conformance.kit.check import check
from farref.properties.conformance.kit.route import Move, Route
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
    """Take random steps, or those that are left of them, and let go of some; say who owns what."""
    if world.route is None:
        world.route = drawn(random.Random(f"references {world.seed}"), world.workers)
    for move in world.route:
        take(world, move)
    return {move.name: move.to for move in world.route if move.verb == "create"}


def drawn(dice: random.Random, workers: Sequence[str]) -> Route:
    """Draw steps. Who shares, fetches or lets go holds what it is about."""
    route: list[Move] = []
    held: dict[tuple[str, str], None] = {}
    for number in range(STEPS):
        verb = dice.choice(("create", "share", "share", "fetch", "drop")) if held else "create"
        if verb == "create":
            move = Move(verb, dice.choice(workers), f"x{number}", dice.choice(workers))
        else:  # shared is also with somebody who has it, and with oneself
            worker, name = dice.choice(list(held))
            move = Move(verb, worker, name, dice.choice(workers) if verb == "share" else "")
        route.append(move)
        if verb == "drop":
            del held[move.worker, move.name]
        elif verb != "fetch":
            held[move.to if verb == "share" else move.worker, move.name] = None
    return tuple(route)


def take(world: World, move: Move) -> None:
    """Take a step, unless its worker holds nothing of that name, because an earlier step was left out."""
    value = int(move.name.removeprefix("x"))
    if move.verb == "create":
        world.create(move.worker, move.name, move.to, "echo", [value])
    elif (move.worker, move.name) not in world.held:
        return
    elif move.verb == "share":
        world.share(move.worker, move.name, move.to)
    elif move.verb == "drop":
        world.drop(move.worker, move.name)
    else:
        world.finds(move.worker, move.name, value)


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
