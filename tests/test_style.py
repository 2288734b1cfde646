"""The house rules that a machine can check: small modules and functions, documented names, no machine of ours in the text."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

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
    text = path.read_text()
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, Function)]
    return {
        short(path): len(text.splitlines()),
        **{f"{short(path)}:{node.name}": code_lines(node) for node in functions},
    }


def ceiling(name: str) -> int:
    return FUNCTION_LINES_MAX if ":" in name else MODULE_LINES_MAX


def test_modules_and_functions_are_small() -> None:
    measured = [one for path in modules(*FOLDERS) for one in lengths(path).items()]
    assert len(measured) > 5000
    assert {name: lines for name, lines in measured if lines > LONGER.get(name, ceiling(name))} == {}


def test_exceptions_are_still_needed() -> None:
    for name in LONGER:
        assert lengths(ROOT / name.partition(":")[0])[name] > ceiling(name), f"{name} fits now: take it off the list"


def undocumented(path: Path) -> list[str]:
    """List what is public in a module and has no docstring; the module is one of it."""
    tree = ast.parse(path.read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
    nodes = [node for body in (tree.body, *(one.body for one in classes)) for node in body]
    public = [node for node in nodes if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_")]
    bare = [f"{short(path)}:{node.name}" for node in public if not ast.get_docstring(node)]
    return bare if path.name == "__init__.py" or ast.get_docstring(tree) else [short(path), *bare]


def test_public_names_are_documented() -> None:
    looked_at = modules(*DOCUMENTED)
    assert len(looked_at) > 500
    assert [name for path in looked_at for name in undocumented(path)] == []


def test_no_machine_of_ours_is_named() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "spec").rglob("*.md"), *(ROOT / "spec").rglob("*.tla"), ROOT / "Makefile"]
    for path in (*modules(*FOLDERS), *pages):
        assert path == Path(__file__) or not MACHINE_PATHS.search(path.read_text()), path


def test_nobody_is_told_to_install_from_an_index() -> None:
    """farref is on no package index: an extra is installed in a checkout, as '.[torch]'."""
    for path in (*modules(*FOLDERS), *ROOT.glob("*.md"), *(ROOT / "spec").glob("*.md")):
        assert path == Path(__file__) or not re.search(r"farref\[|pip install farref", path.read_text()), path
