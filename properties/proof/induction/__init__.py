"""Proof by induction: the questions it comes to, the answers, and counterexamples told in sentences."""
