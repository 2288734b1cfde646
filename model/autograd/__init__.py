"""Distributed autograd as a model: a backward pass that crosses workers."""
