"""Runs in the formats of other tools: a module for each."""
