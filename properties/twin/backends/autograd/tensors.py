"""The tensors of one worker's program: its parameter, what it received, and what it computes from both.

The model reduces a worker's tape to which exits depend on which entries, with a weight. Here those are real tensors: what is
sent is the sum of what it depends on, each times its weight. All numbers are whole, so that sums are exact in any order.

Something is added to each tensor that is sent, a parameter of its own that nobody asks about: so it needs a gradient even
if it depends on nothing else. A *decoy* travels beside it, which nobody ever uses, and must get no gradient (A22).

The model has one tensor in each pair. Here most pairs have several that are used: the sender multiplies what the model sends
by a number for each, and the receiver puts it together again, with other numbers. So each of them gets a gradient of its own,
and one that is lost, or taken for another, makes a wrong sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from farref.impl.tape import Tensor, tensor
from farref.impl.tape.graph import Array

LEAF = -1
Terms = tuple[tuple[int, int], ...]
"""What a tensor depends on: the number of a pair that was received, or `LEAF`; and its weight."""

Shares = tuple[tuple[int, int], ...]
"""For each tensor of a pair: the number its sender multiplies by, and the one its receiver does. The products add up to 1."""
SHARES: Final[tuple[Shares, ...]] = (((1, 1),), ((3, 2), (1, -5)), ((1, 2), (2, 3), (-7, 1)))


def shares_of(pair: int) -> Shares:
    """Say into how many tensors a pair is split, and how."""
    return SHARES[pair % len(SHARES)]


def whole_gradient(pair: int, gradients: Sequence[float]) -> float:
    """Put the gradients of a pair's tensors together, as its sender's tape does."""
    shares = shares_of(pair)
    if len(gradients) != len(shares):
        raise ValueError(f"pair {pair} has {len(shares)} tensors that are used, and {len(gradients)} gradients")
    return sum(sent * gradient for (sent, _), gradient in zip(shares, gradients, strict=True))


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
        shares = [sent if factor == 1 else sent * float(factor) for factor, _ in shares_of(pair)]
        return [*shares, self._decoy()] if with_decoy else shares

    def _decoy(self) -> Tensor:
        self.decoys.append(tensor(1.0, requires_grad=True))
        return self.decoys[-1] * 1.0

    def keep(self, pair: int, tensors: Iterable[Tensor]) -> None:
        """Keep what came with a pair; with one that is not recorded, nothing came that matters."""
        for (_, factor), share in zip(shares_of(pair), tensors, strict=False):  # the decoy is left over
            part = share if factor == 1 else share * float(factor)
            self.received[pair] = part if pair not in self.received else self.received[pair] + part

    def gradient(self, gradients: Mapping[Tensor, Array]) -> float | None:
        """Find the gradient of the parameter."""
        found = gradients.get(self.leaf)
        return None if found is None else float(found)

    def are_decoys_caught(self, gradients: Mapping[Tensor, Array]) -> bool:
        """Say whether a tensor that nobody used has got a gradient."""
        return any(one in gradients for one in self.decoys)
