"""Read the tables of the documents."""

from __future__ import annotations


def rows(text: str) -> dict[str, list[str]]:
    """Read the rows of the tables in a text that begin with a name in backquotes."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            name, *cells = (cell.strip("| ") for cell in line.strip("|").split(" | "))
            found[name.strip("`")] = cells
    return found
