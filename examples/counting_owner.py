"""A small owner of references that is wrong, and how Hypothesis finds out.

For each RRef the owner keeps a number: one more for a fork that is to be counted, one less for a fork that is deleted. What
it forgets is that the network may deliver a message twice.

    farref fuzz rref --backend examples/counting_owner.py
    pytest examples/counting_owner.py
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from farref.model.actions import Deliver, Duplicate
from farref.model.rref.actions import OwnerShare
from farref.model.rref.messages import ForkRequest, Message, RemoteCall, UserDelete
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.own import OwnBackend


class CountingOwner(OwnBackend):
    protocol = "rref"
    fixed = {"failures": 0, "timeouts": 0, "self_shares": False, "results": False}

    def start(self, bounds: Any) -> None:
        self.counts: Counter[str] = Counter()

    def perform(self, action: Any) -> None:
        match action:
            case OwnerShare(rref, _, _):
                self.counts[f"x{rref}"] += 1
            case Deliver(message) | Duplicate(message):
                self.receive(message)

    def receive(self, message: Message) -> None:
        match message:
            case RemoteCall(rref) | ForkRequest(rref):
                self.counts[f"x{rref}"] += 1
            case UserDelete(rref):
                self.counts[f"x{rref}"] -= 1

    def observe(self) -> dict[str, int]:
        return {rref: count for rref, count in self.counts.items() if count}

    def sees(self, observation: Any) -> dict[str, int]:
        entries = [entry for worker in observation.workers for entry in worker.entries]
        return {entry.rref: len(entry.forks) for entry in entries if entry.forks}


TestCountingOwner = twin_machine(CountingOwner).TestCase
