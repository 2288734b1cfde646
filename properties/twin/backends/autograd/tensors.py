"""The tensors of one worker's program: its parameter, what it received, and what it computes from both.

The model reduces a worker's tape to which exits depend on which entries, with a weight. Here those are real tensors: what is
sent is the sum of what it depends on, each times its weight. All numbers are whole, so that sums are exact in any order.

Something is added to each tensor that is sent, a parameter of its own that nobody asks about: so it needs a gradient even
if it depends on nothing else. A *decoy* travels beside it, which nobody ever uses, and must get no gradient (A22).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from farref.impl.tape import Tensor, tensor
from farref.impl.tape.graph import Array

LEAF = -1
Terms = tuple[tuple[int, int], ...]
"""What a tensor depends on: the number of a pair that was received, or `LEAF`; and its weight."""


class BackwardRaised(Exception):  # noqa: N818 (it says what happened)
    """What a backward rule raises here when it is told to."""


class WorkerTensors:
    """The tensors of one worker."""

    def __init__(self) -> None:
        self.leaf = tensor(1.0, requires_grad=True)
        self.received: dict[int, Tensor] = {}
        self.decoys: list[Tensor] = []
        self.raising: set[int] = set()

    def computed(self, terms: Terms, scale: int = 1) -> Tensor:
        """Compute a tensor."""
        total = tensor(0.0, requires_grad=True) * 1.0
        for pair, weight in terms:
            if pair == LEAF or pair in self.received:
                total = total + (self.leaf if pair == LEAF else self.received[pair]) * float(weight * scale)
        return total

    def sent_with(self, pair: int, terms: Terms, with_decoy: bool) -> list[Tensor]:
        """Compute what is sent with a pair. Its backward rule raises if it is told to."""
        sent = self.computed(terms)

        def hook(_: Tensor) -> None:
            if pair in self.raising:
                raise BackwardRaised(f"at pair {pair}")

        sent.register_hook(hook)
        return [sent, self._decoy()] if with_decoy else [sent]

    def _decoy(self) -> Tensor:
        self.decoys.append(tensor(1.0, requires_grad=True))
        return self.decoys[-1] * 1.0

    def keep(self, pair: int, tensors: Iterable[Tensor]) -> None:
        """Keep what came with a pair; with one that is not recorded, nothing came that matters."""
        for main in list(tensors)[:1]:
            self.received[pair] = main

    def gradient(self, gradients: Mapping[Tensor, Array]) -> float | None:
        """Find the gradient of the parameter."""
        found = gradients.get(self.leaf)
        return None if found is None else float(found)

    def are_decoys_caught(self, gradients: Mapping[Tensor, Array]) -> bool:
        """Say whether a tensor that nobody used has got a gradient."""
        return any(one in gradients for one in self.decoys)
