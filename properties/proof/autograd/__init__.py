"""Distributed autograd in first-order logic: how a pass ends, what it waits for, and how a context is forgotten."""
