"""What must hold of RRefs, what must be able to happen, where PyTorch breaks it, and how runs are drawn, seen and told."""
