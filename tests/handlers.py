"""The handlers under the clauses of the spec: the model's own text, each function once.

A clause names the functions of the model that carry it out in its last line. Each of them stands, folded, under the first of
the clauses that its own docstring cites; the other clauses say where that is.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

PIECE: Final = re.compile(r"^(?=### [RA]\d+\. )", re.MULTILINE)
LAST_LINE: Final = re.compile(r"^Property: .* · Model: (.+) · TLA\+: .*$", re.MULTILINE)
FOLDED: Final = re.compile(r"^<details>\n.*?^</details>\n\n(?=Property: )", re.MULTILINE | re.DOTALL)
CITED: Final = re.compile(r"\b[RA]\d+\b")

Handler = Callable[..., Any]


def with_handlers(text: str, subject: str) -> str:
    """Write the handlers of a protocol under its clauses."""
    heading, *pieces = PIECE.split(FOLDED.sub("", text))
    named = {_name(piece): _handlers(piece, subject) for piece in pieces}
    homes = _homes(named)
    return "".join([heading, *(_with_block(piece, named[_name(piece)], homes) for piece in pieces)])


def _name(piece: str) -> str:
    return piece[4:].partition(".")[0]


def _handlers(piece: str, subject: str) -> dict[str, Handler]:
    """Find the functions that the last line of a clause names; records and messages have tables of their own."""
    found = LAST_LINE.search(piece)
    assert found is not None, _name(piece)
    objects = {name: _find(name, subject) for name in found[1].split(", ") if name != "—"}
    return {name: one for name, one in objects.items() if inspect.isfunction(one)}


def _find(name: str, subject: str) -> object:
    module, _, attribute = name.partition(".")
    return getattr(importlib.import_module(f"farref.model.{subject}.{module}"), attribute)


def _homes(named: Mapping[str, Mapping[str, Handler]]) -> dict[str, str]:
    """Choose the clause that each function stands under: one that it cites, if any of them names it."""
    homes: dict[str, str] = {}
    for clause, handlers in named.items():
        for name, handler in handlers.items():
            cited = [one for one in CITED.findall(inspect.getdoc(handler) or "") if name in named.get(one, ())]
            homes.setdefault(name, cited[0] if cited else clause)
    return homes


def _with_block(piece: str, handlers: Mapping[str, Handler], homes: Mapping[str, str]) -> str:
    if not handlers:
        return piece
    here = [inspect.getsource(one).rstrip() for name, one in handlers.items() if homes[name] == _name(piece)]
    there = [f"`{name}` at {homes[name]}" for name in handlers if homes[name] != _name(piece)]
    code = ["```python\n" + "\n\n\n".join(here) + "\n```"] if here else []
    also = [f"{'Also' if here else 'Shown'}: {', '.join(there)}."] if there else []
    block = "\n\n".join(["<details>\n<summary>Handlers</summary>", *code, *also, "</details>"])
    found = LAST_LINE.search(piece)
    assert found is not None
    return f"{piece[: found.start()]}{block}\n\n{piece[found.start() :]}"
