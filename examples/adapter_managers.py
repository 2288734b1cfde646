"""An adapter for something that is neither farref's nor PyTorch's: objects behind `multiprocessing.managers`.

Each worker is a manager, a process that keeps values and counts the proxies that others hold of them; a handle is such a
proxy. It has no gradients, timeouts or faults, and declares none: farref conform --backend examples/adapter_managers.py
"""

from concurrent.futures import ThreadPoolExecutor
from multiprocessing.managers import BaseManager
from threading import Event
from typing import Any

POOL = ThreadPoolExecutor(32)  # of each worker, as each is a process
FUNCTIONS: dict[str, Any] = {"echo": lambda value: value, "value_of": lambda cell: cell.get()}
FUNCTIONS["slow"] = lambda seconds, value: Event().wait(seconds) or value


class Cell:  # a value on its owner, which computes it there
    def __init__(self, function: str, args: list[Any]) -> None:
        self.get = POOL.submit(FUNCTIONS[function], *args).result


class Adapter:
    name, version = "multiprocessing.managers", "1"
    capabilities = frozenset(["create", "share", "drop", "fetch", "call", "probe", "probe.owned", "concurrent"])
    capabilities |= {f"function.{name}" for name in FUNCTIONS}

    def start(self, workers: list[str], options: dict[str, Any]) -> None:
        BaseManager.register("Cell", Cell)
        BaseManager.register("Desk", dict)  # what a worker holds, by name
        self.workers: dict[str, Any] = {name: BaseManager() for name in workers}
        for worker in self.workers.values():
            worker.start()
        self.desks = {name: worker.Desk() for name, worker in self.workers.items()}

    def create(self, worker: str, name: str, owner: str, function: str, args: list[Any], timeout: None) -> None:
        self.desks[worker].update({name: self.computed(worker, owner, function, args)})

    def computed(self, worker: str, owner: str, function: str, args: list[Any]) -> Any:
        held = [self.desks[worker].get(one["rref"]) if isinstance(one, dict) else one for one in args]
        return self.workers[owner].Cell(function, held)

    def share(self, worker: str, name: str, to: str) -> None:
        self.desks[to].update({name: self.desks[worker].get(name)})

    def drop(self, worker: str, name: str) -> None:
        self.desks[worker].pop(name)

    def fetch(self, worker: str, name: str, timeout: None) -> Any:
        return self.call(worker, worker, "value_of", [{"rref": name}], None)

    def call(self, worker: str, to: str, function: str, args: list[Any], timeout: None) -> Any:
        return self.computed(worker, to, function, args).get()

    def probe(self, worker: str, name: None) -> dict[str, int]:
        return {"owned": self.workers[worker]._number_of_objects() - 1}  # one is its desk

    def stop(self) -> list[str]:
        for worker in vars(self).pop("workers", {}).values():
            worker.shutdown()
        return []
