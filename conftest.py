"""Tests live in tests/; the folders below are imported as farref.model, farref.impl and farref.properties, never on their own."""

collect_ignore = ["model", "impl", "properties"]
