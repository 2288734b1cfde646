"""Adapters of systems that people use, and that are neither ours nor PyTorch's; each is one small file."""
