"""The table of PyTorch's names (spec/parity.md): PyTorch has them, none is missing, and ours are what the table says."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

TEXT: Final = (Path(__file__).parents[2] / "spec" / "parity.md").read_text("utf-8")
NAMES: Final = TEXT.partition("\n# PyTorch's names, and ours\n")[2]
SECTION: Final = re.compile(r"^## `([\w.]+)`, here `([\w.]+)`$", re.MULTILINE)
ROW: Final = re.compile(r"^\| (`.+`) \| (same|differs|not offered) \|(.*)\|$", re.MULTILINE)
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
OFFERED: Final = ("same", "differs")


@dataclass(frozen=True)
class Name:
    """A name of PyTorch, and what the table says of it."""

    theirs: str
    ours: str
    called: str
    parameters: str | None
    verdict: str
    words: str


def listed() -> list[Name]:
    """Read the tables."""
    parts = SECTION.split(NAMES)[1:]
    found = []
    for theirs, ours, rows in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        for names, verdict, words in ROW.findall(rows):
            for name, parameters in re.findall(r"`(\w+)(\([^`]*\))?`", names):
                found.append(Name(theirs, ours, name, parameters or None, verdict, words.strip()))
    return found


LISTED: Final = listed()
each_name = pytest.mark.parametrize("name", LISTED, ids=lambda name: f"{name.theirs}.{name.called}")


def found(path: str) -> Any:
    """Find a module, or something in one, by its path."""
    try:
        return import_module(path)
    except ModuleNotFoundError:
        parent, _, last = path.rpartition(".")
        return getattr(found(parent), last)


def member(place: str, called: str) -> Any:
    """Find a name where it is, or the class itself if it is the name of that."""
    return found(place) if place.rpartition(".")[2] == called else getattr(found(place), called)


def places(parameters: str) -> list[tuple[str, bool]]:
    """Read parameters as they are written: each name, and whether it may be left out."""
    given = ast.parse(f"def f{parameters}: ...").body[0]
    assert isinstance(given, ast.FunctionDef)
    optional = len(given.args.args) - len(given.args.defaults)
    return [(one.arg, number >= optional) for number, one in enumerate(given.args.args)]


# The table and ours


def test_the_tables_are_read() -> None:
    rows = re.findall(r"^\| `", NAMES, re.MULTILINE)
    assert len(ROW.findall(NAMES)) == len(rows) > 40
    assert len({(name.theirs, name.called) for name in LISTED}) == len(LISTED)


@each_name
def test_a_name_is_offered_or_not_as_the_table_says_and_why(name: Name) -> None:
    offered = name.called == name.ours.rpartition(".")[2] or hasattr(found(name.ours), name.called)
    if name.theirs.endswith("Options") and not offered:
        offered = hasattr(member(name.ours, name.theirs.rpartition(".")[2])(), name.called)
    assert offered == (name.verdict in OFFERED)
    assert name.verdict == "same" or name.words, "say why"


@each_name
def test_what_is_offered_takes_pytorchs_parameters_by_place_and_by_name(name: Name) -> None:
    if name.verdict == "not offered" or name.parameters is None or "devices=None)" in name.parameters:
        return
    ours = member(name.ours, name.called)
    own = (None,) if inspect.isfunction(ours) and inspect.isclass(found(name.ours)) else ()
    given = [place for place, _ in places(name.parameters)]
    signature = inspect.signature(ours)
    signature.bind(*own, *given)
    signature.bind(*own, **dict.fromkeys(given))
    signature.bind(*own, **dict.fromkeys(place for place, optional in places(name.parameters) if not optional))


# The table and PyTorch


def is_public(torch_module: ModuleType, name: str) -> bool:
    """Say whether a module of PyTorch has a name of its own: it says so, or nobody else's it is."""
    if name in getattr(torch_module, "__all__", ()):
        return True
    value = getattr(torch_module, name)
    is_own = str(getattr(value, "__module__", "")).startswith("torch") and not isinstance(value, ModuleType)
    return is_own and not name.startswith("_") and callable(value)


def public_names(place: str) -> set[str]:
    """List the public names of a module or of a class of PyTorch."""
    theirs = found(place)
    if isinstance(theirs, ModuleType):
        known = {*vars(theirs), *getattr(theirs, "__all__", ())}
        return {name for name in known if is_public(theirs, name)}
    return {name for name in dir(theirs) if not name.startswith("_")}


@pytest.mark.parametrize("place", sorted({name.theirs for name in LISTED}))
def test_no_public_name_of_pytorch_is_missing(place: str) -> None:
    pytest.importorskip("torch", reason="the names are not compared with PyTorch's: it is not installed")
    here = {name.called for name in LISTED if name.theirs == place}
    itself = {place.rpartition(".")[2]}
    private = {name for name in here if name.startswith("_")}
    assert here - private - itself == public_names(place) - itself
    assert all(hasattr(found(place), name) for name in private)


def theirs_of(name: Name) -> str | None:
    """Give the parameters of PyTorch's own, as they are written; nothing if it does not tell."""
    value = member(name.theirs, name.called)
    if name.theirs.endswith(".RRef"):
        value = getattr(found("torch._C._distributed_rpc.PyRRef"), name.called)
    told = value.__init__.__doc__ if inspect.isclass(value) else value.__doc__
    written = re.search(rf"^(?:{name.called}|__init__)\((.*)\) ->", told or "", re.MULTILINE)
    if written is not None:
        plain = re.sub(r":[^,=]*(?:\[[^\]]*\][^,=]*)*", "", written[1])
        return f"({plain})"
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return None


@each_name
def test_the_parameters_in_the_table_are_pytorchs(name: Name) -> None:
    pytest.importorskip("torch", reason="the parameters are not compared with PyTorch's: it is not installed")
    if name.parameters is None:
        return
    theirs = theirs_of(name)
    assert theirs is not None
    plain = re.sub(r"\*, |<[^>]*>", "", theirs)
    assert [one for one in places(plain) if one[0] != "self" and not one[0].startswith("_")] == places(name.parameters)
