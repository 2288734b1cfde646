"""Functions of ported programs, called on other workers."""

from __future__ import annotations

from tests.impl.far import registered


def begin() -> str:
    """Be imported, and so register what is in another module."""
    return registered.__name__
