"""Reverse-mode differentiation in one process, on numpy: what distributed autograd stands on.

    from farref.impl.tape import relu, tensor

    w = tensor([[1.0, -2.0]], requires_grad=True)
    loss = relu(w * 3).sum()
    loss.backward()
    w.grad                      # Tensor([[3. 0.]])

The names are PyTorch's. Read `graph` (what is recorded), `walk` (how it is walked back), `rules` (how each operation is
differentiated), then `tensors`.
"""

from farref.impl.tape.functions import (
    broadcast_to,
    cat,
    cos,
    exp,
    log,
    log_softmax,
    matmul,
    maximum,
    minimum,
    receive,
    relu,
    sigmoid,
    sin,
    softmax,
    sqrt,
    stack,
    tanh,
    tensor,
    where,
)
from farref.impl.tape.graph import Accumulate, Edge, Node, Operation, Receive, Root
from farref.impl.tape.losses import cross_entropy, mse_loss
from farref.impl.tape.mode import is_grad_enabled, no_grad, set_grad_enabled
from farref.impl.tape.optimizers import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop
from farref.impl.tape.passes import gradients, root_of
from farref.impl.tape.rules import Rule
from farref.impl.tape.table import RULES
from farref.impl.tape.tensors import Handle, Tensor, apply, backward
from farref.impl.tape.walk import BackwardError, Delivery, Walk, ends_of

__all__ = [
    "RULES",
    "SGD",
    "Accumulate",
    "Adagrad",
    "Adam",
    "AdamW",
    "BackwardError",
    "Delivery",
    "Edge",
    "Handle",
    "Node",
    "Operation",
    "Optimizer",
    "RMSprop",
    "Receive",
    "Root",
    "Rule",
    "Tensor",
    "Walk",
    "apply",
    "backward",
    "broadcast_to",
    "cat",
    "cos",
    "cross_entropy",
    "ends_of",
    "exp",
    "gradients",
    "is_grad_enabled",
    "log",
    "log_softmax",
    "matmul",
    "maximum",
    "minimum",
    "mse_loss",
    "no_grad",
    "receive",
    "relu",
    "root_of",
    "set_grad_enabled",
    "sigmoid",
    "sin",
    "softmax",
    "sqrt",
    "stack",
    "tanh",
    "tensor",
    "where",
]
