"""Backends whose gradients are wrong, each in one way. The kit must find each, and by the right clause."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from farref.properties.zoo.backends.wrong import wrong
from farref.properties.zoo.creature import PYTORCH, REVIEW
from farref.properties.zoo.toy.gradients import Context, Gradients
from farref.properties.zoo.toy.honest import Honest
from farref.properties.zoo.toy.tape import Node, Pass

EARLY: Final = -1.5
"""No gradient of whole numbers is this."""


@wrong(
    "A8",
    "A8",
    asked="A7 A8 A13 A22",
    blocked="A8.self A13.local A13.back A13.diamond A13.relay A13.branches A13.fetch A7.unrecorded",
)
class LosesAGradient(Honest):
    """Of two gradients that come to one node from other nodes, the second takes the place of the first."""

    class Passes(Gradients):
        """Gradients that do not add up."""

        def add(self, so_far: float | None, more: float, _node: Node) -> float:  # noqa: ARG002
            """Forget what came before."""
            return more


@wrong(
    "A14", "A9 A14 A15 A15.argument A15.fetch", asked="A9 A12 A14 A15 A20", blocked="A15.blames", origin=PYTORCH + "D1"
)
class WaitsForEver(Honest):
    """A FAST pass waits for gradients that nobody will send."""

    class Passes(Gradients):
        """Gradients that wait."""

        def unreached(self, _one: Pass, missing: Sequence[str]) -> None:  # noqa: ARG002
            """Wait."""
            time.sleep(1000)


@wrong("A25", "A4 A25", asked="A4 A25", blocked="A4.unpaired A25.busy A25.late A25.failed")
class KeepsAContext(Honest):
    """A release reaches those that the creator called itself, and nobody else."""

    class Passes(Gradients):
        """Gradients that somebody remembers."""

        def forget(self, name: str) -> None:
            """Forget, except on C."""
            self.contexts[name].known &= {"C"}
            self.contexts[f"{name}, forgotten"] = self.contexts.pop(name)


@wrong("A17", "A17 A17.late A19", asked="A12 A17 A18 A19 A23", origin=PYTORCH + "D4")
class ShowsWhatFailed(Honest):
    """Gradients can be seen as they come, also those of a pass that fails."""

    class Passes(Gradients):
        """Gradients that are not kept aside."""

        def visit(self, one: Pass, node: Node) -> None:
            """Show every leaf before its time."""
            for context in self.contexts.values():
                if context.running is one:
                    for leaf in self.leaves:
                        context.gradients.setdefault(leaf, EARLY)
            super().visit(one, node)

        def commit(self, context: Context, nodes: Sequence[Node], staged: Mapping[Node, float], retain: bool) -> None:
            """Correct it in the end."""
            for leaf in self.leaves:
                if context.gradients.get(leaf) == EARLY:
                    del context.gradients[leaf]
            super().commit(context, nodes, staged, retain)


@wrong("A18", "A12 A12.phantom A18 A18.next A19", asked="A12 A18 A19", origin=PYTORCH + "D2")
class StaysInAPass(Honest):
    """A worker is never told that a pass has failed."""

    class Passes(Gradients):
        """Gradients of passes without an end."""

        def leave(self, context: Context) -> None:
            """Leave only what has ended well."""
            if context.running is not None and context.running.fault is None:
                super().leave(context)


@wrong("A27", "A27.none A27.stale", asked="A27")
class AppliesStaleGradients(Honest):
    """The optimizer applies what it was given last, if there is nothing new."""

    class Passes(Gradients):
        """Gradients that are applied twice."""

        last: dict[str, float]

        def optimize(self, context: Context, names: Sequence[str], rate: float) -> None:
            """Remember every gradient."""
            self.last = {**getattr(self, "last", {}), **context.gradients}
            for name in names:
                self.leaves[name].value -= rate * self.last.get(name, 0)


@wrong("A22", "A22.part", asked="A8 A13 A22")
class GivesZeros(Honest):
    """A leaf that was sent along and not used gets a gradient of zero."""

    class Passes(Gradients):
        """Gradients of zero."""

        def commit(self, context: Context, nodes: Sequence[Node], staged: Mapping[Node, float], retain: bool) -> None:
            """Give one to every leaf that was part of a call with one that has a gradient."""
            super().commit(context, nodes, staged, retain)
            for send in context.sends:
                names = [parent.name for node in send.arrived for parent, _ in node.parents if parent.name]
                if any(name in context.gradients for name in names):
                    for name in names:
                        context.gradients.setdefault(name, 0.0)


@wrong("A15", "A15.blames", asked="A13 A15", origin=REVIEW)
class BlamesEverybody(Honest):
    """A FAST pass that cannot end names all who take part, and not the one whose call was not used."""

    class Passes(Gradients):
        """Gradients that accuse."""

        def unreached(self, one: Pass, missing: Sequence[str]) -> None:  # noqa: ARG002
            """Accuse everybody."""
            super().unreached(one, sorted(one.workers))


@wrong("A23", "A23.apart", asked="A8 A13 A23", origin=REVIEW)
class AddsInPlace(Honest):
    """Leaves that got one gradient share its memory, and what is added for one is added for all."""

    class Passes(Gradients):
        """Gradients that are one another's."""

        def commit(self, context: Context, nodes: Sequence[Node], staged: Mapping[Node, float], retain: bool) -> None:
            """Add what comes for one leaf to all that had the same before."""
            before = dict(context.gradients)
            super().commit(context, nodes, staged, retain)
            for node in nodes:
                for name, gradient in before.items():
                    if node.name and name != node.name and before.get(node.name) == gradient:
                        context.gradients[name] += staged[node]
