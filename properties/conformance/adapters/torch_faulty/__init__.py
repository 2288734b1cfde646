"""PyTorch with the fault-injecting agent of its own tests."""
