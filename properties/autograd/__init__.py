"""What must hold of distributed autograd, what must be able to happen, and where PyTorch breaks it."""
