"""First-order formulas as values: one text that solvers are asked about and that small worlds are looked up in."""
