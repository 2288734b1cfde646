"""Implementations of distributed autograd that can be driven beside the model. Start with `lockstep`."""
