"""The checks, a file for each chapter of the spec."""
