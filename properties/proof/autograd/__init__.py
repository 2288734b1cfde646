"""Distributed autograd in first-order logic: how a pass ends, and how a context is forgotten."""
