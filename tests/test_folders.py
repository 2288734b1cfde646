"""The tree explains itself: every folder is listed with what is in it, none is crowded, and files that are named exist."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.folders import ROOT, WITHOUT_PACKAGE, files, folders, line_of

FILES_MAX: Final = 24
GENERATED: Final = {".cfg"}
"""What a program writes, as many as it likes; nobody looks for something among it."""

LISTED: Final = dict(re.findall(r"^\| `([\w/]+)/` \| (.+) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))

MADE_UP: Final = {"file.py", "mine.py"}
"""Names that stand for a file of the reader's own."""

OF_PYTORCH: Final = {"rpc_test.py", "dist_autograd_test.py", "dist_optimizer_test.py", "faulty_agent_rpc_test.py"}

NAMED: Final = re.compile(r"`((?:[\w.-]+/)*\w+\.py)`")


def test_every_folder_is_listed() -> None:
    assert list(LISTED) == folders(), "run make generated"


@pytest.mark.parametrize("folder", LISTED)
def test_a_listed_folder_exists_and_is_told_as_it_tells_itself(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert line_of(folder) == LISTED[folder], "run make generated"
    assert re.fullmatch(r".{20,}[.?!]", LISTED[folder])


def test_a_folder_with_a_package_is_told_by_it() -> None:
    assert not [folder for folder in WITHOUT_PACKAGE if (ROOT / folder / "__init__.py").exists()]
    assert set(WITHOUT_PACKAGE) <= set(folders())


def test_no_folder_is_crowded() -> None:
    counted = Counter(str(path.parent) for path in files() if path.suffix not in GENERATED)
    assert {folder: number for folder, number in counted.items() if number > FILES_MAX} == {}


def said(path: Path) -> str:
    """Give the prose of a file: a page as a whole, of a module its docstrings."""
    text = (ROOT / path).read_text()
    if path.suffix == ".md":
        return text
    tree = ast.walk(ast.parse(text))
    strings = (node.value for node in tree if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    return "\n".join(one.value for one in strings if isinstance(one.value, str))


PAGES: Final = [page.relative_to(ROOT) for page in ROOT.glob("*.md")]
PROSE: Final = [path for path in (*files(), *PAGES) if path.suffix in (".py", ".md")]
ENDS: Final = {"/".join(path.parts[start:]) for path in files() for start in range(len(path.parts))}
"""The files of the tree, by all the names that they can be given: from the root, or from a folder in between."""


def test_files_that_are_named_exist() -> None:
    assert len(PROSE) > 1000
    named = ((path.as_posix(), name) for path in PROSE for name in set(NAMED.findall(said(path))))
    assert [one for one in named if one[1] not in ENDS | MADE_UP | OF_PYTORCH] == []
