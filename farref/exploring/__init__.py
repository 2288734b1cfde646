"""Worlds to walk in: what a page shows of a state, where it can go from there, and who serves the page."""
