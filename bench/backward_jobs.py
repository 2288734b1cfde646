"""One world of one library, for `bench/backward.py`: does every job for a while, and prints steps per second as JSON.

A step is all of it: open a context, call forward, run the pass, release. A hop is a call there and back with a 4 x 4 matrix
and a parameter on the other side. PyTorch has one mode; farref is measured in both of its own.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

PEERS: Final = ("B", "C")
SECONDS: Final = 1.0
AT_ONCE: Final = 100

_parameters: dict[str, Any] = {}


def farref_layer(x: Any) -> Any:
    """What a peer computes, with farref."""
    from farref.impl.tape import tensor

    if "w" not in _parameters:
        _parameters["w"] = tensor(np.eye(4) * 0.5, requires_grad=True)
    return x @ _parameters["w"]


def torch_layer(x: Any) -> Any:
    """What a peer computes, with PyTorch."""
    import torch

    if "w" not in _parameters:
        _parameters["w"] = (torch.eye(4, dtype=torch.float64) * 0.5).requires_grad_()
    return x @ _parameters["w"]


@contextmanager
def farref_world(mode: str) -> Iterator[Any]:
    """A driver and two peers of farref."""
    from farref import impl
    from farref.impl import autograd
    from farref.impl.tape import tensor

    with impl.launch(PEERS, allow=[__name__]):
        yield SimpleNamespace(
            rpc_async=impl.rpc_async,
            layer=farref_layer,
            context=autograd.context,
            backward=lambda context, loss: autograd.backward(context, [loss], mode=mode),
            x=tensor(np.ones((4, 4)), requires_grad=True),
        )


@contextmanager
def torch_world() -> Iterator[Any]:
    """A driver and two peers of PyTorch."""
    import torch
    from torch.distributed import autograd

    from bench.rpc_worlds import torch_world as world_of_torch

    with world_of_torch("torch", 1 + len(PEERS)) as world:
        yield SimpleNamespace(
            rpc_async=world.rpc_async,
            layer=torch_layer,
            context=autograd.context,
            backward=lambda context, loss: autograd.backward(context, [loss]),
            x=torch.ones((4, 4), dtype=torch.float64, requires_grad=True),
        )


def chain(world: Any, hops: int) -> None:
    """One step with calls one after the other, each with the result of the one before."""
    with world.context() as context:
        y = world.x
        for hop in range(hops):
            y = world.rpc_async(PEERS[hop % 2], world.layer, args=(y,)).wait()
        world.backward(context, y.sum())


def fan_out(world: Any) -> None:
    """One step with calls to both peers at once, and work here."""
    with world.context() as context:
        futures = [world.rpc_async(peer, world.layer, args=(world.x,)) for peer in PEERS]
        y = world.layer(world.x)
        for future in futures:
            y = y + future.wait()
        world.backward(context, y.sum())


def rate(step: Callable[[], object]) -> float:
    """Repeat a step for a while, after a few to warm up; say how many there were in a second."""
    for _ in range(3):
        step()
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < SECONDS:
        step()
        steps += 1
    return steps / (time.perf_counter() - began)


def figures(world: Any) -> dict[str, float]:
    """Do every job."""
    found = {f"{hops} hops": rate(lambda hops=hops: chain(world, hops)) for hops in (1, 10, 50)}  # type: ignore[misc]
    found["fan-out"] = rate(lambda: fan_out(world))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found[f"{AT_ONCE} contexts at once"] = AT_ONCE * rate(
            lambda: list(pool.map(lambda _: chain(world, 1), range(AT_ONCE)))
        )
    return found


def main() -> None:
    """Be the world that is named: smart, fast or torch."""
    from bench import backward_jobs

    kind = sys.argv[1]
    worlds = backward_jobs
    with worlds.torch_world() if kind == "torch" else worlds.farref_world(kind) as world:
        print(json.dumps(worlds.figures(world)))


if __name__ == "__main__":
    main()
