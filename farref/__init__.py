"""farref: a model-checked reference for PyTorch's RRef and distributed autograd protocols.

`farref.model` is the protocol as a pure state machine with an explicit-state checker, `farref.properties` says what must
hold, `farref.impl` is (from the next release on) a real multi-process implementation. Start with `spec/README.md`.
"""

__version__ = "0.1.0"
