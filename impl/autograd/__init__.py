"""Distributed autograd between real processes (`spec/autograd.md`), with PyTorch's names.

from farref.impl import autograd, launch, rpc_sync

with launch(2, allow=["my_functions"]), autograd.context() as context:
    loss = rpc_sync("worker1", my_functions.forward, [x])
    autograd.backward(context, [loss])
    autograd.get_gradients(context)      # of the parameters on this worker
"""

from farref.impl.autograd.backward import backward, context, get_gradients
from farref.impl.autograd.optimizer import DistributedOptimizer
from farref.impl.core.autograd.ids import ContextId
from farref.impl.errors import (
    ContextReleased,
    PassBusy,
    PassExcluded,
    PassFailed,
    PassPeerDied,
    PassRefused,
    PassReleased,
    PassTimeout,
    RuleRaised,
    StepFailed,
    UnreachedSends,
)
from farref.impl.options import is_available

__all__ = [
    "ContextId",
    "ContextReleased",
    "DistributedOptimizer",
    "PassBusy",
    "PassExcluded",
    "PassFailed",
    "PassPeerDied",
    "PassRefused",
    "PassReleased",
    "PassTimeout",
    "RuleRaised",
    "StepFailed",
    "UnreachedSends",
    "backward",
    "context",
    "get_gradients",
    "is_available",
]
