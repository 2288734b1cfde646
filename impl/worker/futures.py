"""A value that arrives later. Whoever waits for it helps to read what arrives (see `reactor`)."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol

from farref.impl.errors import LimitReached, NotRunning, RpcError, RpcTimeout
from farref.impl.limits import NO_CHOICE, reached
from farref.impl.settings import is_default, limit_of
from farref.impl.user_code import entering, watched
from farref.impl.values.reports import read_error
from farref.impl.values.telling import complain
from farref.impl.worker.process import current, here
from farref.impl.worker.waiting import Bell

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Result = TypeVar("Result", default=Any)
    Next = TypeVar("Next", default=Any)
else:
    from typing import TypeVar

    Result, Next = TypeVar("Result"), TypeVar("Next")

_settling: Final = watched(threading.RLock(), "_settling")
"""One lock for all futures, as it is held for a few assignments only. Re-entrant: a finalizer may settle another one inside."""
os.register_at_fork(before=_settling.acquire, after_in_parent=_settling.release, after_in_child=_settling.release)


class Loop(Protocol):
    """What a future needs of the worker it belongs to."""

    def serve_until(self, done: Callable[[], bool], deadline: float, make_bell: Callable[[], Bell]) -> None:
        """Read and handle what arrives until something is done or too late."""

    def start(self, task: Callable[[], None]) -> None:
        """Run a task on some other thread."""

    def look_again(self) -> None:
        """Let a caller that reads see whether what it waits for is done."""


class Future(Generic[Result]):
    """The result of a call: a value or an error, once. An application may make one too, and return it from a function."""

    __slots__ = ("_callbacks", "_done", "_error", "_loop", "_timeout", "_value", "_what", "begun", "deadline")

    def __init__(
        self, loop: Loop | None = None, what: Iterable[object] = "a future", timeout: float | None = None
    ) -> None:
        """Begin to wait for something. What that is, is put together when somebody has to be told."""
        self._loop = loop or current().reactor
        self._what = what
        self._timeout = timeout
        self.begun = time.monotonic()
        self.deadline = None if timeout is None else self.begun + timeout
        self._done = False
        self._value: Any = None
        self._error: BaseException | bytes | None = None
        """What came in place of a value. One that travelled is made when somebody asks for it, as that may run user code."""
        self._callbacks: list[Callable[[], None]] | None = None

    @property
    def what(self) -> str:
        """What is waited for."""
        return "".join(map(str, self._what))

    def done(self) -> bool:
        """Say whether the value, or the error, is there."""
        return self._done

    def wait(self, timeout: float | None = None) -> Result:
        """Wait for the value; raise the error if that came instead, or `RpcTimeout` if nothing did.

        `timeout` is in seconds, and can only shorten what the call itself was given; none, -1 and 0 do not. `done()` looks
        without waiting. If this worker leaves the world meanwhile, the error is `NotRunning`.
        """
        limit = None if timeout is None or is_default(timeout) else limit_of(timeout)
        if not self._done:
            self._wait_until_done(limit)
        if self._error is None:
            return self._value  # type: ignore[no-any-return]
        try:
            return self._outcome()  # type: ignore[no-any-return]
        finally:
            del self

    def _wait_until_done(self, timeout: float | None) -> None:
        deadline = float("inf") if self.deadline is None else self.deadline
        if timeout is not None:
            deadline = min(deadline, time.monotonic() + timeout)
        try:
            self._loop.serve_until(self.done, deadline, self._make_bell)
        finally:
            if not self._done and self._callbacks:
                self._forget_bells()
        if not self._done:
            if time.monotonic() < deadline:
                self.abandon()
            elif deadline == self.deadline:
                self.expire()
            else:
                raise RpcTimeout(f"{self.what}: nothing came within {timeout} s")

    def _outcome(self) -> Any:
        try:
            if isinstance(self._error, bytes):
                self._error = read_error(self._error)
            if type(self._error) is RpcTimeout:
                # A new one each time: this future waits for its answer still, and must not keep what its callers held.
                raise RpcTimeout(*self._error.args)
            if self._error is not None:
                raise self._error
            return self._value
        finally:
            # The error's traceback has this frame, and so would keep the future, itself and all callers' locals alive.
            del self

    def value(self) -> Result:
        """The value of a future that is done."""
        if not self._done:
            raise RuntimeError("the future is not done")
        return self.wait()

    def then(self, callback: Callable[[Future[Result]], Next]) -> Future[Next]:
        """Call something with this future when it is done; its result is the value of the future returned."""
        following: Future[Next] = Future(self._loop, self._what)

        def follow() -> None:
            entering("a callback")
            try:
                result = callback(self)
            except BaseException as error:  # whoever waits for what follows is told, whatever it is
                following.offer_exception(error)
            else:
                following.offer_result(result)

        self._start_when_done(follow)
        return following

    def add_done_callback(self, callback: Callable[[Future[Result]], object]) -> None:
        """Call something with this future when it is done. If it raises, that is printed: there is nobody to be told."""

        def report() -> None:
            entering("a callback")
            try:
                callback(self)
            except BaseException as error:
                complain(error, f"a callback of {self.what} raised:\n")

        self._start_when_done(report)

    def _start_when_done(self, task: Callable[[], None]) -> None:
        worker = here()
        limit = NO_CHOICE.callbacks_max if worker is None else worker.settings.limits.callbacks_max
        if self.callbacks() >= limit:
            raise LimitReached(reached(f"so many callbacks wait for {self.what}", "callbacks_max", limit))
        # What a call starts belongs to the autograd context of the code that started it (A28).
        inherited = copy_context()
        self.call_when_done(lambda: self._loop.start(lambda: inherited.run(task)))

    def set_result(self, result: Result) -> None:
        """Give the value. It is refused if a value or an error was given before."""
        self._refuse_unless(self.offer_result(result))

    def set_exception(self, result: BaseException) -> None:
        """Give an error in place of a value. It is refused if a value or an error was given before."""
        if not isinstance(result, BaseException):
            raise TypeError(f"an exception is given in place of a value, and not {result!r}")
        self._refuse_unless(self.offer_exception(result))

    def _refuse_unless(self, first: bool) -> None:
        # One that has ended by itself, for it was too late or its world is gone, is nobody's mistake.
        if not first and type(self._error) not in (RpcTimeout, NotRunning):
            raise RpcError(f"{self.what} is done already: a value or an error is given once")

    def offer_result(self, value: object) -> bool:
        """Give the value, if it is the first; say whether it was."""
        return self._settle(value, None)

    def offer_exception(self, error: BaseException) -> bool:
        """Give an error in place of a value, if it is the first; say whether it was."""
        return self._settle(None, error)

    def set_report(self, report: bytes) -> bool:
        """Give a written error in place of a value, if it is the first; say whether it was."""
        return self._settle(None, report)

    def expire(self) -> bool:
        """End with a timeout. What was asked for goes on elsewhere (R27)."""
        return self.offer_exception(RpcTimeout(f"{self.what}: no answer within {self._timeout} s"))

    def abandon(self) -> bool:
        """End because this worker has left its world: nothing can come any more (R32)."""
        return self.offer_exception(NotRunning(f"{self.what}: this worker left the world before anything came"))

    def expire_if_late(self, now: float) -> None:
        """End with a timeout if it is time to."""
        if self.deadline is not None and self.deadline <= now:
            self.expire()

    def call_when_done(self, callback: Callable[[], None]) -> None:
        """Call something short that waits for nothing, at once when the future is done, whatever lock is held then."""
        with _settling:
            if not self._done:
                self._callbacks = [*(self._callbacks or ()), callback]
                return
        callback()

    def callbacks(self) -> int:
        """Say how many are to be told when the future is done."""
        return len(self._callbacks or ())

    def _make_bell(self) -> Bell:
        bell = Bell()
        self.call_when_done(bell)
        return bell

    def _forget_bells(self) -> None:
        """Tell this thread nothing: it has stopped waiting."""
        me = threading.get_ident()
        with _settling:
            kept = [one for one in self._callbacks or () if not isinstance(one, Bell) or one.thread != me]
            self._callbacks = kept or None

    def _settle(self, value: Any, error: BaseException | bytes | None) -> bool:
        with _settling:
            if self._done:
                return False
            self._value, self._error, self._done = value, error, True
            callbacks, self._callbacks = self._callbacks, None
        self._loop.look_again()
        for callback in callbacks or ():
            callback()
        return True
