"""The implementation with one mistake: a handler that is replaced while the process lives."""
