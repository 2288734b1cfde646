"""What is registered with `@function`, in a module that no world allows."""

from __future__ import annotations

from typing import Any

from farref.impl import Future, function, functions, rpc_async


@function
class Adder:
    """A class whose registration brings its public methods along."""

    def __init__(self, start: int) -> None:
        self.start = start

    @functions.async_execution
    def plus(self, to: str, value: int) -> Future[int]:
        return rpc_async(to, add, args=(self.start, value))

    @staticmethod
    @functions.async_execution
    def both(to: str, a: int, b: int) -> Future[int]:
        return rpc_async(to, add, args=(a, b)).then(lambda done: done.wait())

    @classmethod
    @functions.async_execution
    def both_of_class(cls, to: str, a: int, b: int) -> Future[int]:
        return rpc_async(to, add, args=(a, b))

    @staticmethod
    def _private() -> str:
        return "private"


class Unregistered:
    @staticmethod
    def method() -> str:
        return "reached"


@function
def add(a: Any, b: Any) -> Any:
    return a + b


@function
@functions.async_execution
def add_later(to: str, a: Any, b: Any) -> Future:
    return rpc_async(to, add, args=(a, b))


@function
@functions.async_execution
def no_future() -> int:
    return 3
