"""One guard of the core taken out: mutants that are made from the source, not written by hand.

A guard is a condition in a handler of `impl/core`: the test of an `if`, one operand of an `and` or an `or`, the filter of a
comprehension, an operand of what a handler returns. To take it out is to go on as if it had let the handler pass. A test whose
body leaves the handler is never true then. Any other test is always true. An operand of `and` counts as true, one of `or` as
false.

Which kind of message it is (`type(message) is Call`) is no guard: without it nothing of the handler is left.

A mutant's name says where it is: `owner.on_user_delete.2` is the second guard of `on_user_delete` in `impl/core/owner.py`.
"""

from __future__ import annotations
import __future__

import ast
import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from farref.properties.zoo.creature import TWINS, Creature

CORE: Final = "farref.impl.core"
REFERENCES: Final = ("owner", "user", "channel", "calls", "parking", "counts", "members", "authority", "core")
GRADIENTS: Final = ("contexts", "engaging", "rooting", "task", "ledger", "engine")
GUARD: Final = "a guard"
"""The origin of such a mutant."""

LEAVES: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
CLAUSE_NAMED: Final = re.compile(r"\b([RA]\d+)\b")
OUTERMOST: Final = {"counts": "R34", "authority": "R40", "ledger": "A25"}
"""The clause of a module that names none of its own."""


@dataclass(frozen=True)
class Site:
    """A guard: in which field of which node it stands, and what it counts as when it is taken out."""

    holder: ast.AST
    field: str
    index: int | None
    counts_as: bool

    @property
    def test(self) -> ast.expr:
        """The condition."""
        found = getattr(self.holder, self.field)
        test: ast.expr = found if self.index is None else found[self.index]
        return test

    def take_out(self) -> None:
        """Put a constant in its place."""
        constant = ast.copy_location(ast.Constant(self.counts_as), self.test)
        if self.index is None:
            setattr(self.holder, self.field, constant)
        else:
            getattr(self.holder, self.field)[self.index] = constant


@dataclass(frozen=True, kw_only=True)
class GuardMutant(Creature):
    """The core without one of its guards."""

    protocol: str
    module: str
    kind: str
    handler: str
    number: int
    line: int

    @property
    def place(self) -> str:
        """The file and the line."""
        return f"{self.module.removeprefix('farref.').replace('.', '/')}.py:{self.line}"

    @contextmanager
    def alive(self) -> Iterator[None]:
        """Let the implementation do without the guard, for a while."""
        kind = getattr(import_module(self.module), self.kind)
        original = kind.__dict__[self.handler]
        self.let_loose()
        try:
            yield
        finally:
            setattr(kind, self.handler, original)

    def let_loose(self) -> None:
        """Let the implementation do without the guard as long as this process lives."""
        module = import_module(self.module)
        setattr(getattr(module, self.kind), self.handler, self._handler(module))

    def _handler(self, module: ModuleType) -> Any:
        function = deepcopy(_functions(self.module)[self.kind, self.handler])
        list(sites(function))[self.number - 1].take_out()
        text = ast.fix_missing_locations(ast.Module([function], []))
        room: dict[str, Any] = {}
        code = compile(text, inspect.getfile(module), "exec", flags=__future__.annotations.compiler_flag)
        exec(code, module.__dict__, room)
        return room[self.handler]


def sites(function: ast.FunctionDef) -> Iterator[Site]:
    """List the guards of a handler, in the order of the text."""
    for node in ast.walk(function):
        match node:
            case ast.If(test=test, body=body, orelse=otherwise):
                is_exit = isinstance(body[-1], LEAVES) and not otherwise
                yield from _of_test(node, "test", test, counts_as=not is_exit)
            case ast.comprehension(ifs=ifs):
                yield from (Site(node, "ifs", index, True) for index in range(len(ifs)))
            case ast.Return(value=ast.BoolOp() as value):
                yield from _of_operands(value)


def _of_test(node: ast.AST, field: str, test: ast.expr, *, counts_as: bool) -> Iterator[Site]:
    if isinstance(test, ast.BoolOp):
        yield from _of_operands(test)
    elif not _is_kind(test) and not any(isinstance(one, ast.NamedExpr) for one in ast.walk(test)):
        yield Site(node, field, None, counts_as)


def _of_operands(test: ast.BoolOp) -> Iterator[Site]:
    for index, operand in enumerate(test.values):
        if not _is_kind(operand) and not any(isinstance(one, ast.NamedExpr) for one in ast.walk(operand)):
            yield Site(test, "values", index, isinstance(test.op, ast.And))


def _is_kind(test: ast.expr) -> bool:
    """Say whether a test only asks what kind of message there is."""
    return ast.unparse(test).startswith(("type(", "isinstance("))


@lru_cache(maxsize=64)
def _functions(module: str) -> dict[tuple[str, str], ast.FunctionDef]:
    """Find every method of a module's classes, by class and name."""
    text = ast.parse(inspect.getsource(import_module(module)))
    return {
        (kind.name, one.name): one
        for kind in text.body
        if isinstance(kind, ast.ClassDef)
        for one in kind.body
        if isinstance(one, ast.FunctionDef) and "super()" not in ast.unparse(one)
    }


def _mutants_of(module: str, protocol: str) -> Iterator[GuardMutant]:
    about, short = import_module(module).__doc__ or "", module.rpartition(".")[2]
    for (kind, handler), function in _functions(module).items():
        for number, site in enumerate(sites(function), start=1):
            yield GuardMutant(
                name=f"{short}.{handler}.{number}",
                says=f"`{ast.unparse(site.test)}` counts as {str(site.counts_as).lower()} in `{kind}.{handler}`.",
                clause=_clause(ast.get_docstring(function) or "", about, short),
                origin=GUARD,
                caught_by=(TWINS[protocol],),
                protocol=protocol,
                module=module,
                kind=kind,
                handler=handler,
                number=number,
                line=site.test.lineno,
            )


def _clause(of_handler: str, of_module: str, short: str) -> str:
    for text in (of_handler, of_module):
        if found := CLAUSE_NAMED.search(text):
            return found[1]
    return OUTERMOST[short]


@lru_cache(maxsize=1)
def guards() -> dict[str, GuardMutant]:
    """Make the core without each of its guards, by name."""
    found = [one for name in REFERENCES for one in _mutants_of(f"{CORE}.{name}", "rref")]
    found += [one for name in GRADIENTS for one in _mutants_of(f"{CORE}.autograd.{name}", "autograd")]
    return {one.name: one for one in found}
