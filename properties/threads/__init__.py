"""What must hold of the threads of a worker, what must be able to happen, and how their runs are told."""
