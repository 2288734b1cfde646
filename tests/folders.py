"""The listing of folders in CONTRIBUTING.md: one line each, which is the first sentence of the package in it."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
LISTED: Final = ("spec", "model", "properties", "impl", "farref", "bench", "examples", "tests")
"""The top folders, in the order in which a newcomer reads them."""

WITHOUT_PACKAGE: Final = {
    "spec": "The protocols as numbered clauses, what was found in PyTorch, and the manuals.",
    "spec/building": "To build a worker in another language: the core on a page, the transport, the costs, a transcript.",
    "spec/drawings": "Phases, a tree of forks, and the shortest run to N1, drawn from the model and as a page to walk on.",
    "spec/tla": "The same protocols in TLA+, with a configuration for each claim.",
    "spec/evidence": "What a wrong protocol would have to get past, counted.",
    "spec/upstream": "Reports about PyTorch that are ready to be filed.",
    "properties/conformance/expectations": "The failures that are known, a file for each backend.",
    "farref/exploring/page": "The page of `farref explore`: one module for each thing on it, no build step.",
    "bench": "Measurements: the engines beside TLC, the implementation beside PyTorch.",
    "examples": "Programs that use the implementation, adapters for the kit, and a wrong backend.",
    "examples/ported": "Programs in the manner of PyTorch's tutorials; what differs is marked line by line.",
    "examples/javascript": "A second core, in JavaScript, written from the spec alone, with its wire, workers and adapter.",
    "tests": "The tests; folders in it mirror the tree.",
    "tests/farref": "The commands, as a user calls them, and what they print.",
    "tests/impl": "The implementation: its parts, real processes, PyTorch's own tests told again.",
    "tests/model": "The models as scenarios named after clauses, and the engines beside each other.",
    "tests/pages": "What the generated pages of the spec are made with: drawings, tables, transcripts.",
    "tests/properties": "Properties, stories, the twin, and the kit judged by backends that are wrong on purpose.",
    "tests/spec": "The clauses, the differences and TLA+: whatever they name exists, and the counts agree.",
}
"""What the folders are that no Python package is in."""


def files() -> list[Path]:
    """List the files of the listed folders. Links are skipped, as what they lead to is listed itself."""
    return [path.relative_to(ROOT) for top in LISTED for path in sorted(_below(ROOT / top))]


def _below(top: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(top):  # does not follow links
        inner[:] = [one for one in inner if one != "__pycache__" and not one.startswith(".")]
        paths = [Path(folder, one) for one in names if not one.startswith(".")]
        yield from (one for one in paths if not one.is_symlink())


def folders() -> list[str]:
    """List the folders that are worth a line; of the tests only the top ones, as the others mirror the tree."""
    known = {str(parent) for path in files() for parent in path.parents if str(parent) != "."}
    rooms = [one for one in sorted(known) if one.split("/")[0] in LISTED and not re.match(r"tests/.+/", one)]
    return sorted(rooms, key=lambda one: LISTED.index(one.split("/")[0]))


def line_of(folder: str) -> str:
    """Say in one sentence what is in a folder."""
    package = ROOT / folder / "__init__.py"
    if not package.exists():
        return WITHOUT_PACKAGE[folder]
    return first_sentence(ast.get_docstring(ast.parse(package.read_text())) or "")


def first_sentence(text: str) -> str:
    """Give the first sentence of a text."""
    found = re.match(r".+?[.?!](?=\s|$)", " ".join(text.split("\n\n")[0].split()))
    return found[0] if found else ""


def listing() -> str:
    """Write the table of folders."""
    rows = [f"| `{one}/` | {line_of(one)} |" for one in folders()]
    return "\n".join(["| folder | what is in it |", "|---|---|", *rows])
