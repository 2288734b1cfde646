"""farref: a model-checked reference for PyTorch's RRef protocol and distributed autograd.

`farref.model` is the protocol as a pure state machine with an explicit-state checker beneath, `farref.properties` says what
must hold and which defects are known, and the commands are in `farref.cli`. Start with `spec/README.md`.
"""

__version__ = "0.1.0"
