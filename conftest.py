"""Tests live in tests/; the folders below are imported as farref.model, farref.impl and farref.properties only."""

collect_ignore = ["model", "impl", "properties"]
