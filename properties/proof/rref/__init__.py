"""RRefs in first-order logic: states, steps, the invariant, what follows from it, and why it all ends."""
