"""Distributed autograd in first-order logic: how a pass ends, that it ends, and how a context is forgotten."""
