"""Distributed autograd without clock, sockets or threads (`spec/autograd.md`). Start with `engine`."""
