"""A recurrent network over two workers, in the manner of PyTorch's tutorial on distributed autograd and optimizers.

    python examples/ported/rnn.py

The table of words and the decoder are on a server, the cells in between on the trainer. One backward pass goes through all
three, and one optimizer moves all their parameters. The network learns to say which of four words comes next.

Lines with `# ported` differ from a program for PyTorch: imports, what others may call, where the workers meet, and tensors of
the tape, which has no `nn.Module`.
"""

from __future__ import annotations

import multiprocessing as mp  # ported: torch.multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np  # ported: torch

import farref.impl as rpc  # ported: torch.distributed.rpc
import farref.impl.autograd as dist_autograd  # ported: torch.distributed.autograd
from farref.impl import RRef, function  # ported: torch.distributed.rpc has RRef, and nothing is registered
from farref.impl.autograd import DistributedOptimizer  # ported: torch.distributed.optim
from farref.impl.tape import SGD, Tensor, cat, cross_entropy, tanh, tensor  # ported: torch, torch.optim

WORDS = ["the", "cat", "sat", "down"]
FEATURES, STEPS = 8, 60


def parameter(seed: int, *shape: int) -> Tensor:
    """Make a parameter, the same in every run."""
    return tensor(np.random.default_rng(seed).normal(size=shape) / 2, requires_grad=True)  # ported: torch.nn.Parameter


def parameter_rrefs(module: Any) -> list[RRef]:
    """Give references to the parameters of a module that is here."""
    return [RRef(one) for one in module.parameters()]


@function  # ported
class EmbeddingTable:
    """What the network knows of each word."""

    def __init__(self) -> None:
        self.table = parameter(1, len(WORDS), FEATURES)

    def forward(self, words: list[int]) -> Tensor:
        """Look some words up."""
        return cat([self.table[word : word + 1] for word in words])

    def parameter_rrefs(self) -> list[RRef]:
        """Give references to the parameters."""
        return [RRef(self.table)]


@function  # ported
class Decoder:
    """Says how likely each word is."""

    def __init__(self) -> None:
        self.weight = parameter(2, FEATURES, len(WORDS))

    def forward(self, states: Tensor) -> Tensor:
        """Score every word, for each state."""
        return states @ self.weight

    def parameter_rrefs(self) -> list[RRef]:
        """Give references to the parameters."""
        return [RRef(self.weight)]


class Cells:
    """The recurrent part, which stays with the trainer."""

    def __init__(self) -> None:
        self.inner, self.outer = parameter(3, FEATURES, FEATURES), parameter(4, FEATURES, FEATURES)

    def parameters(self) -> list[Tensor]:
        """List the parameters."""
        return [self.inner, self.outer]

    def forward(self, words: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Go from word to word; give all states, and the last one."""
        states = []
        for position in range(len(words)):
            state = tanh(words[position : position + 1] @ self.outer + state @ self.inner)
            states.append(state)
        return cat(states), state


@function  # ported
def call_method(method: Callable[..., Any], rref: RRef, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a value where it is."""
    return method(rref.local_value(), *args, **kwargs)


def remote_method(method: Callable[..., Any], rref: RRef, *args: Any, **kwargs: Any) -> Any:
    """Call a method of a value on its owner."""
    return rpc.rpc_sync(rref.owner(), call_method, args=[method, rref, *args], kwargs=kwargs)


class RNNModel:
    """The whole network, over two workers."""

    def __init__(self, ps: str) -> None:
        self.emb_table_rref = rpc.remote(ps, EmbeddingTable)
        self.rnn = Cells()
        self.decoder_rref = rpc.remote(ps, Decoder)

    def forward(self, words: list[int], state: Tensor) -> tuple[Tensor, Tensor]:
        """Score what comes after each word: there, here, and there again."""
        emb = remote_method(EmbeddingTable.forward, self.emb_table_rref, words)
        output, state = self.rnn.forward(emb, state)
        return remote_method(Decoder.forward, self.decoder_rref, output), state

    def parameter_rrefs(self) -> list[RRef]:
        """Give references to all parameters, wherever they are."""
        remote_params: list[RRef] = remote_method(EmbeddingTable.parameter_rrefs, self.emb_table_rref)
        remote_params.extend(parameter_rrefs(self.rnn))
        remote_params.extend(remote_method(Decoder.parameter_rrefs, self.decoder_rref))
        return remote_params


def run_trainer() -> None:
    """Learn the sentence, and say it."""
    model = RNNModel("ps")
    opt = DistributedOptimizer(SGD, model.parameter_rrefs(), lr=0.5)
    start = tensor(np.zeros((1, FEATURES)))  # ported: torch.zeros
    words = [0, 1, 2, 3, 0, 1, 2, 3]
    following = [*words[1:], 0]
    losses = []
    for _ in range(STEPS):
        with dist_autograd.context() as context_id:
            scores, _ = model.forward(words, start)
            loss = cross_entropy(scores, following)
            dist_autograd.backward(context_id, [loss])
            opt.step(context_id)
            losses.append(loss.item())
    scores, _ = model.forward(words, start)
    said = [WORDS[best] for best in np.argmax(scores.data, axis=1)]  # ported: scores.argmax(dim=1)
    print(f"the loss fell below a tenth: {losses[-1] < losses[0] / 10}")
    print("after 'the' it says:", " ".join(said[:4]), flush=True)


def run_worker(rank: int, world_size: int) -> None:
    """Be the server, or the trainer."""
    rpc.init_rpc("ps" if rank == 0 else "trainer", rank=rank, world_size=world_size)
    if rank == 1:
        run_trainer()
    rpc.shutdown(timeout=0)


if __name__ == "__main__":
    world_size = 2
    with tempfile.TemporaryDirectory() as place:
        os.environ["FARREF_DIRECTORY"] = place  # ported: MASTER_ADDR and MASTER_PORT
        context = mp.get_context("spawn")
        processes = [context.Process(target=run_worker, args=(rank, world_size)) for rank in range(world_size)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
    sys.exit(any(process.exitcode for process in processes))
