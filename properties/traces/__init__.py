"""Runs as files, and runs taken again."""
