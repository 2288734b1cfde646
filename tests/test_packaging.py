"""What is installed is what is here: the package list is complete, and the links are links."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[1]
LINKS: Final = ("model", "impl", "properties", "spec")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("name", LINKS)
def test_folders_are_linked_into_the_package(name: str) -> None:
    link = ROOT / "farref" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..") / name


def test_every_package_is_listed() -> None:
    listed = set(project()["tool"]["setuptools"]["packages"])
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "farref").rglob("*.py")}
    for link in LINKS:
        for path in (ROOT / link).rglob("*.py"):
            found.add(".".join(("farref", *path.parent.relative_to(ROOT).parts)))
    assert found <= listed
    assert all((ROOT / "farref" / Path(*name.split(".")[1:])).is_dir() for name in listed)


def test_spec_files_are_shipped() -> None:
    shipped = project()["tool"]["setuptools"]["package-data"]
    for path in (ROOT / "spec").rglob("*"):
        if path.suffix in (".md", ".tla", ".cfg", ".json"):
            package = ".".join(("farref", *path.parent.relative_to(ROOT).parts))
            assert f"*{path.suffix}" in shipped[package]


def test_packages_within_farref_are_shipped_with_their_pages() -> None:
    setuptools = project()["tool"]["setuptools"]
    rendering = ROOT / "farref" / "rendering" / "conformance"
    assert "farref.rendering.conformance" in setuptools["packages"]
    kinds = {f"*{path.suffix}" for path in rendering.iterdir() if path.is_file() and path.suffix != ".py"}
    assert kinds == set(setuptools["package-data"]["farref.rendering.conformance"])


def test_the_page_of_the_explorer_is_shipped() -> None:
    shipped = project()["tool"]["setuptools"]["package-data"]["farref.exploring"]
    assert {f"page/*{path.suffix}" for path in (ROOT / "farref" / "exploring" / "page").iterdir()} == set(shipped)


def test_expectations_are_shipped() -> None:
    shipped = project()["tool"]["setuptools"]["package-data"]["farref.properties.conformance"]
    assert "expectations/*.toml" in shipped


def test_the_command_exists() -> None:
    module, _, function = project()["project"]["scripts"]["farref"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_the_version_is_said_once() -> None:
    assert importlib.import_module("farref").__version__ == project()["project"]["version"]
