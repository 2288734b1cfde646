"""The solvers that can be asked, each behind the same three functions."""
