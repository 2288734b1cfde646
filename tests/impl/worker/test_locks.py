"""The table of locks in `impl/worker/__init__.py` has every lock there is, and a run takes them in its order."""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import pytest

import farref.impl
from farref.impl import RRef, api, autograd, launch, remote, rpc_sync, tape, worker
from farref.impl.tape import SGD, tensors
from farref.impl.worker import futures, process
from tests.impl.far import autograd as far_autograd
from tests.impl.far import references as far

IMPL: Final = Path(farref.impl.__file__).parent
MUTEXES: Final = {"Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore"}
KINDS: Final = MUTEXES | {"Event", "Barrier", "local", "SimpleQueue", "Queue"}
ROW: Final = re.compile(r"^\| ([\d-]) \| `(\S+)` `(\w+)` \| (\w+) \|", re.MULTILINE)

Where = tuple[str, str]
"""A file and a name in it."""


def listed() -> dict[Where, tuple[str, str]]:
    """What the table says: for each lock its number and its kind."""
    rows = ROW.findall(worker.__doc__ or "")
    assert rows
    return {(file, name): (number, kind) for number, file, name, kind in rows}


def kind_of(node: ast.expr) -> str | None:
    """Say which kind of lock an expression makes or names, if it does."""
    made = node.func if isinstance(node, ast.Call) else node
    if isinstance(made, ast.Name) and made.id == "watched" and isinstance(node, ast.Call):
        return kind_of(node.args[0])
    is_one = (
        isinstance(made, ast.Attribute) and isinstance(made.value, ast.Name) and made.value.id in ("threading", "queue")
    )
    return made.attr if isinstance(made, ast.Attribute) and is_one and made.attr in KINDS else None


def name_of(target: ast.expr) -> str:
    assert isinstance(target, ast.Attribute | ast.Name)
    return target.attr if isinstance(target, ast.Attribute) else target.id


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Give each target of an assignment with what is assigned to it."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=True)
            else:
                yield target, node.value


def locks_in(path: Path) -> Iterator[tuple[str, str, int]]:
    """Find the locks that a module makes: name, kind and line."""
    tree, made = ast.parse(path.read_text()), 0
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.ImportFrom) and node.module in ("threading", "queue")), "import the module"
        if isinstance(node, ast.ClassDef):
            yield from ((node.name, kind, node.lineno) for base in node.bases if (kind := kind_of(base)))
        for target, value in assigned(node):
            if isinstance(value, ast.Call) and (kind := kind_of(value)):
                made += 1
                yield name_of(target), kind, value.lineno
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and kind_of(node) and kind_of(node.func)]
    assert len(calls) == made, f"a lock in {path} has no name"


def found() -> dict[Where, str]:
    """What the code has: for each lock its kind."""
    return {
        (path.relative_to(IMPL).as_posix(), name): kind
        for path in sorted(IMPL.rglob("*.py"))
        for name, kind, _ in locks_in(path)
    }


def test_the_table_has_every_lock_and_no_other() -> None:
    assert {where: kind for where, (_, kind) in listed().items()} == found()


class Watch:
    """Notes which locks are taken while others are held, for all threads."""

    def __init__(self) -> None:
        self.taken: set[Where] = set()
        self.nested: set[tuple[Where, Where]] = set()
        self._held: dict[int, list[Where]] = defaultdict(list)

    def take(self, where: Where) -> None:
        held = self._held[threading.get_ident()]
        self.taken.add(where)
        self.nested |= {(outer, where) for outer in held if outer != where}
        held.append(where)

    def give_back(self, where: Where) -> None:
        held = self._held[threading.get_ident()]
        if where in held:
            held.reverse()
            held.remove(where)
            held.reverse()


class Watched:
    """A lock that is watched. It does what the real one does."""

    def __init__(self, lock: Any, where: Where, watch: Watch) -> None:
        self._lock, self._where, self._watch = lock, where, watch

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        got: bool = self._lock.acquire(blocking, timeout)
        if got:
            self._watch.take(self._where)
        return got

    def release(self) -> None:
        self._lock.release()
        self._watch.give_back(self._where)

    def locked(self) -> bool:
        held: bool = self._lock.locked()
        return held

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.release()


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Watch every lock of the implementation that is made from now on, and those that were made with their modules."""
    watch, ranked = Watch(), {where for where, (number, _) in listed().items() if number != "-"}
    places = {(path, line, kind): name for path in IMPL.rglob("*.py") for name, kind, line in locks_in(path)}

    def watched(make: Any, kind: str) -> Any:
        def make_one() -> Any:
            caller = sys._getframe(1)
            path = Path(caller.f_code.co_filename)
            name = places.get((path, caller.f_lineno, kind), "")
            where = (path.relative_to(IMPL).as_posix(), name) if name else ("", "")
            return Watched(make(), where, watch) if where in ranked else make()

        return make_one

    for where, *users in (
        (("worker/process.py", "joining"), process, api),
        (("worker/futures.py", "_settling"), futures),
        (("tape/tensors.py", "_new_nodes"), tensors),
    ):
        for module in users:
            monkeypatch.setattr(module, where[1], Watched(getattr(module, where[1]), where, watch))
    for kind in ("Lock", "RLock"):
        monkeypatch.setattr(threading, kind, watched(getattr(threading, kind), kind))
    return watch


def test_a_run_takes_locks_in_the_order_of_the_table(watch: Watch) -> None:
    with launch(["B"], allow=["tests.impl.far.references", "tests.impl.far.autograd"]):
        own = RRef(3)
        assert rpc_sync("B", far.fetch, [own]) == 3
        assert remote("B", far.echo, [own]).to_here().to_here() == 3
        x = tape.tensor([1.0, 2.0], requires_grad=True)
        with autograd.context() as context:
            loss = rpc_sync("B", far_autograd.double, [x]).sum()
            autograd.backward(context, [loss])
            autograd.DistributedOptimizer(SGD, [RRef(x)], lr=0.5).step(context)
        assert x.data.tolist() == [0.0, 1.0]
    table = {where: number for where, (number, _) in listed().items()}
    assert {(outer, inner) for outer, inner in watch.nested if table[outer] >= table[inner]} == set()
    unseen = {where for where, number in table.items() if number != "-"} - watch.taken
    assert unseen == {("transport/tls.py", "_lock")}, "only what this run does not use is not taken"
