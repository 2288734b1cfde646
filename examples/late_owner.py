"""A small owner of references that is wrong, and how Hypothesis finds out.

It shows how many forks it counts for each RRef, and nothing else. It counts the creator of an RRef when the function that
computes the value has ended. PyTorch does so too. Clause R10 says: when the call arrives.

    farref fuzz rref --backend examples/late_owner.py
    pytest examples/late_owner.py
"""

from collections import Counter
from typing import Any

from farref.model.actions import Deliver, Duplicate
from farref.model.rref.actions import FinishFunction, OwnerShare
from farref.model.rref.messages import ForkRequest, Message, RemoteCall, UserDelete
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.own import OwnBackend


class LateOwner(OwnBackend):
    protocol = "rref"
    fixed = {"failures": 0, "timeouts": 0, "self_shares": False, "results": False}

    def start(self, bounds: Any) -> None:
        self.counts: Counter[str] = Counter()
        self.received: set[Message] = set()  # a copy changes nothing
        self.running: set[str] = set()

    def perform(self, action: Any) -> None:
        match action:
            case OwnerShare(rref, _, _):
                self.counts[f"x{rref}"] += 1
            case FinishFunction(rref) if f"x{rref}" in self.running:
                self.counts[f"x{rref}"] += 1
            case Deliver(message) | Duplicate(message) if message not in self.received:
                self.received.add(message)
                self.receive(message)

    def receive(self, message: Message) -> None:
        match message:
            case RemoteCall(rref):
                self.running.add(f"x{rref}")
            case ForkRequest(rref):
                self.counts[f"x{rref}"] += 1
            case UserDelete(rref):
                self.counts[f"x{rref}"] -= 1

    def observe(self) -> dict[str, int]:
        return {rref: count for rref, count in self.counts.items() if count}

    def sees(self, observation: Any) -> dict[str, int]:
        entries = [entry for worker in observation.workers for entry in worker.entries]
        return {entry.rref: len(entry.forks) for entry in entries if entry.forks}


TestLateOwner = twin_machine(LateOwner).TestCase
