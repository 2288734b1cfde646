"""Ray: each worker is an actor; a value is the result of a task that its owner has called, and others borrow it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ray

from farref.properties.conformance.adapters.agent import Life
from farref.properties.conformance.adapters.desk import DECLARED, DeskAgent, strike


class RayAgent(DeskAgent):
    """One actor. What it makes is a task of its own, which it calls itself: so it is the owner."""

    def enter(self, life: Life, others: dict[str, Any]) -> int:
        """Know the others; say which process this is."""
        self.sit(life)
        self.others, self.minted = others, list[bytes]()
        return os.getpid()

    def make(self, function: str | None, args: Any) -> Any:
        """Own a value to come. It goes to others in a list, as Ray fetches what is not in one, and with its owner's name."""
        made = ray.put(args[0]) if function is None else self.others[self.name].run.remote(function, args)
        self.minted.append(made.hex().encode())
        return [made, self.name]

    def at(self, worker: str, verb: str, *args: Any) -> Any:
        """Ask an actor for something."""
        return _got(getattr(self.others[worker], verb).remote(*args), worker)

    def value(self, reference: Any) -> Any:
        """Read a reference."""
        return _got(*reference)

    def probe(self, _name: str | None) -> dict[str, int]:
        """Count what this actor owns and still keeps."""
        counts = ray._private.worker.global_worker.core_worker.get_all_reference_counts()
        return {"owned": sum(one in counts for one in self.minted)}


def _got(reference: Any, worker: str) -> Any:
    try:
        return ray.get(reference)
    except (ray.exceptions.OwnerDiedError, ray.exceptions.RayActorError) as error:
        raise ConnectionError(f"worker {worker} has died: {type(error).__name__}") from None


class Adapter:
    """Ray on this machine. It lives as long as the thread that has started it, so one thread is kept for it."""

    name, version = "Ray", ray.__version__
    capabilities = DECLARED - {"function.heirloom", "several"} | {"reclaims", "caller_owns"}

    def __init__(self) -> None:
        self.keeper, self.actors, self.pids = ThreadPoolExecutor(1), dict[str, Any](), dict[str, int]()
        for verb in ("create", "share", "drop", "fetch", "call", "probe"):
            ask = lambda worker, *args, verb=verb: _got(getattr(self.actors[worker], verb).remote(*args), worker)  # noqa: E731
            setattr(self, verb, ask)
        self.fault = lambda kind, worker, details: strike(kind, self.pids[worker], details)
        self.end = lambda: self.keeper.submit(ray.shutdown).result()

    def start(self, workers: list[str], _options: Any) -> None:
        """Have an actor for each worker."""
        if not ray.is_initialized():
            quiet = {"include_dashboard": False, "logging_level": "ERROR", "log_to_driver": False}
            self.keeper.submit(ray.init, num_cpus=4, **quiet).result()
        self.actors = {name: ray.remote(max_concurrency=16, num_cpus=0)(RayAgent).remote() for name in workers}
        for name, actor in self.actors.items():
            self.pids[name] = ray.get(actor.enter.remote(Life(tuple(workers), name, "", {}), self.actors))

    def collect(self) -> None:
        """Let the actors that live collect their garbage."""
        ray.wait([one.collect.remote() for one in self.actors.values()], num_returns=len(self.actors), timeout=2)

    def stop(self) -> list[str]:
        """End all actors."""
        return [ray.kill(self.actors.popitem()[1]) for _ in list(self.actors)] and []
