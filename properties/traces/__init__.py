"""Runs as files, and runs that the checker found for others to take."""
