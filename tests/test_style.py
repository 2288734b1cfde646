"""The house rules that a machine can check: small modules and functions, documented names, no machine of ours in the text."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
FOLDERS: Final = ("farref", "model", "properties", "impl", "bench", "examples", "tests")
DOCUMENTED: Final = ("farref", "model", "properties", "impl")
MODULE_LINES_MAX, FUNCTION_LINES_MAX = 300, 40

LONGER: Final[dict[str, int]] = {}
"""Modules and functions that may be longer, and how long: the numbers here only ever go down."""

MACHINE_PATHS: Final = re.compile(r"/(?:work|tmp|home|root)/\w")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules(*folders: str) -> list[Path]:
    """List the modules of some folders; links are skipped, as what they lead to is listed itself."""
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in found if not any(parent.is_symlink() for parent in path.parents)]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


each_module = pytest.mark.parametrize("path", modules(*FOLDERS), ids=short)


def code_lines(function: Function) -> int:
    """Count the lines of a function without its docstring."""
    first = function.body[0]
    has_docstring = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    docstring = (first.end_lineno or 0) - first.lineno + 1 if has_docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def lengths(path: Path) -> dict[str, int]:
    """Count the lines of a module and of its functions, each under its name."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, Function)]
    return {
        short(path): len(path.read_text().splitlines()),
        **{f"{short(path)}:{node.name}": code_lines(node) for node in functions},
    }


def ceiling(name: str) -> int:
    return FUNCTION_LINES_MAX if ":" in name else MODULE_LINES_MAX


@each_module
def test_modules_and_functions_are_small(path: Path) -> None:
    for name, lines in lengths(path).items():
        assert lines <= LONGER.get(name, ceiling(name)), name


def test_exceptions_are_still_needed() -> None:
    for name in LONGER:
        assert lengths(ROOT / name.partition(":")[0])[name] > ceiling(name), f"{name} fits now: take it off the list"


@pytest.mark.parametrize("path", modules(*DOCUMENTED), ids=short)
def test_public_names_are_documented(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if path.name != "__init__.py":
        assert ast.get_docstring(tree), "the module has no docstring"
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    for body in (tree.body, *(one.body for one in classes)):
        for node in body:
            if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
                assert ast.get_docstring(node), node.name


def test_no_machine_of_ours_is_named() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "spec").rglob("*.md"), *(ROOT / "spec").rglob("*.tla"), ROOT / "Makefile"]
    for path in (*modules(*FOLDERS), *pages):
        assert path == Path(__file__) or not MACHINE_PATHS.search(path.read_text()), path


def test_nobody_is_told_to_install_from_an_index() -> None:
    """farref is on no package index: an extra is installed in a checkout, as '.[torch]'."""
    for path in (*modules(*FOLDERS), *ROOT.glob("*.md"), *(ROOT / "spec").glob("*.md")):
        assert path == Path(__file__) or not re.search(r"farref\[|pip install farref", path.read_text()), path
