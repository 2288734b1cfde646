"""What is typed at a prompt or into a cell of a notebook: it is in no file, so no other process can import it.

A worker is told what to do in words. Or the driver gives its workers the text, `launch(source=...)`: each runs it as its own
`__main__` before it joins. The text comes with the process, from whoever starts it, and never over a connection.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType
from typing import Final

from farref.impl.errors import RpcError

CELL: Final = "<source>"

ADVICE: Final = (
    "it was typed at a prompt or in a notebook, where no other process can find it. Put it into a file, import it from there, "
    "and launch(allow=['that_file']). Or give every worker the text of it: launch(source=text, allow=['__main__']), "
    "and in a notebook source=In[n]"
)


def has_script() -> bool:
    """Say whether the main module of this process is a file, which a spawned process has too."""
    file = getattr(sys.modules["__main__"], "__file__", None)
    return file is not None and Path(file).exists()


@contextmanager
def without_script() -> Iterator[None]:
    """Let processes be started that do not look for the file of the main module, if there is none: it may be "<stdin>"."""
    if has_script() or getattr(sys.modules["__main__"], "__file__", None) is None:
        yield
    else:
        with without_main():
            yield


@contextmanager
def without_main() -> Iterator[None]:
    """Let processes be started that do not import the main module."""
    main = sys.modules["__main__"]
    kept: dict[str, object] = {name: vars(main)[name] for name in ("__file__", "__spec__") if name in vars(main)}
    vars(main).update(dict[str, object].fromkeys(kept))
    try:
        yield
    finally:
        vars(main).update(kept)


def checked_source(source: str | Sequence[str]) -> str:
    """Take the text of one cell, or of several; refuse what is no program, before anything has begun."""
    given = [source] if isinstance(source, str) else source
    if not isinstance(given, Sequence) or not all(isinstance(cell, str) for cell in given):
        raise RpcError(f"source is the text of a program, or a list of such texts; not {source!r}")
    text = "\n".join(given)
    try:
        _compiled(text)
    except SyntaxError as error:
        raise RpcError(f"source is the text of a program, and line {error.lineno} is none: {error.msg}") from None
    return text


def run_source(text: str) -> None:
    """Run the text as the main module of this process."""
    if text:
        exec(_compiled(text), vars(sys.modules["__main__"]))


def _compiled(text: str) -> CodeType:
    return compile(text, CELL, "exec", dont_inherit=True)
