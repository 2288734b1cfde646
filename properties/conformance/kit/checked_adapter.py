"""Where checks are run: an adapter, and the world that it has started.

A world is used again by the next check if it is as good as new: the check was passed and all counts are zero. After anything
else a new one is started, so that no clause is blamed for another. What cannot be stopped is put down. Nobody judges how a
spoilt world stops, so its workers are killed first where that can be done: what is left of it need not be waited for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from farref.properties.conformance.conversation.session import (
    UNSUPPORTED,
    AdapterError,
    Hang,
    OperationFailed,
    Session,
)
from farref.properties.conformance.conversation.trial import START_SECONDS
from farref.properties.conformance.kit.check import Check
from farref.properties.conformance.kit.document import Verdict
from farref.properties.conformance.kit.route import Route
from farref.properties.conformance.kit.verbs import SCHEDULES
from farref.properties.conformance.kit.verdicts import CheckRun, how_broken
from farref.properties.conformance.kit.world import ClauseBroken, World

STOP_SECONDS: Final = 15.0
SILENT_MAX: Final = 3
"""How often in a row a backend may take longer to start than it may, before it is given up."""


class CheckedAdapter:
    """Runs checks, one at a time."""

    def __init__(
        self, command: tuple[str, ...], seed: int, start_seconds: float = START_SECONDS, schedules: int = SCHEDULES
    ) -> None:
        self._command, self._seed, self._start_seconds, self._schedules = command, seed, start_seconds, schedules
        self._session: Session | None = None
        self._is_over = False
        self._started: tuple[tuple[str, ...], tuple[tuple[str, float], ...]] | None = None
        """The workers of the world, and its options, while there is one."""
        self._silent = 0
        """How often in a row nothing was heard when it was to start."""
        self.unstopped = 0
        """How often `stop` failed, did not end or gave no list, though nothing was wrong before it."""

    def talk(self) -> Session:
        """Start the adapter, unless it runs; raise AdapterError if it cannot be talked to, or is not to be any more."""
        if self._is_over:
            raise AdapterError("the run is over")
        if self._session is None:
            try:
                self._session = Session(self._command)
            except AdapterError as error:
                self._silent += isinstance(error.__cause__, Hang)
                raise
        return self._session

    def run(self, check: Check, route: Route | None = None) -> CheckRun:
        """Run a check once, in a world that is fit for it, with these random steps, and leave what is fit for the next."""
        world = None
        try:
            world = self._world(check)
            world.route = route
            outcome = replace(_run(check, world), route=world.route)
        except AdapterError as error:
            self.put_down()
            return CheckRun(Verdict.ERROR, str(error), world.story() if world else ())
        spoilt = outcome.verdict is not Verdict.PASS or check.alone or any(one.verb == "fault" for one in outcome.story)
        if spoilt or not _is_as_new(world):
            self._leave()
        return outcome

    def put_down(self) -> None:
        """Kill the adapter with all that it started."""
        self._started = None
        session, self._session = self._session, None
        if session is not None:
            session.put_down()

    def put_down_for_good(self) -> None:
        """Kill the adapter, from whichever thread, and start it no more."""
        self._is_over = True
        self.put_down()

    def end(self) -> None:
        """Stop everything."""
        self._stop()
        if self._session is not None:
            self._session.close()

    def _world(self, check: Check) -> World:
        wanted = (check.workers, check.options)
        if self._silent >= SILENT_MAX:
            raise AdapterError(f"not tried, as the backend did not start in time, {SILENT_MAX} times in a row")
        if self._started != wanted:
            self._stop()
        session = self.talk()
        if self._started is None:
            self._start(session, check)
            self._started, self._silent = wanted, 0
        return World(session, check.workers, self._seed, schedules=self._schedules)

    def _start(self, session: Session, check: Check) -> None:
        start = {"workers": list(check.workers), "options": dict(check.options)}
        try:
            session.ask("start", start).wait(self._start_seconds)
        except OperationFailed as error:
            raise AdapterError(f"the backend does not start: {error}") from error
        except Hang as error:
            self._silent += 1
            raise AdapterError(f"the backend does not start: {error} (--start-seconds gives it more)") from error

    def _leave(self) -> None:
        """Stop a spoilt world."""
        if self._session is not None and self._started is not None and not _killed(self._session, self._started[0]):
            self.put_down()
        self._stop(is_spoilt=True)

    def _stop(self, *, is_spoilt: bool = False) -> None:
        """Stop the world, if there is one; if it does not stop, put down everything and begin with a new adapter."""
        if self._session is None or self._started is None:
            return
        self._started = None
        try:
            left = self._session.ask("stop", {}).wait(STOP_SECONDS)
            self.unstopped += not isinstance(left, list) and not is_spoilt
        except (OperationFailed, Hang, AdapterError):
            self.unstopped += not is_spoilt
            self.put_down()


def _run(check: Check, world: World) -> CheckRun:
    try:
        check.run(world)
    except AdapterError:
        raise
    except (ClauseBroken, OperationFailed, Hang) as broken:
        if isinstance(broken, OperationFailed) and broken.kind == UNSUPPORTED:
            said = f"the adapter has declared what it cannot do: {broken}"
            return CheckRun(Verdict.ERROR, said, world.story(), broken.trace)
        trace = broken.trace if isinstance(broken, OperationFailed) else None
        files = broken.files if isinstance(broken, ClauseBroken) else ()
        return CheckRun(Verdict.FAIL, how_broken(broken), world.blame(broken), trace, files)
    except Exception as error:
        return CheckRun(Verdict.ERROR, f"the check itself is wrong: {type(error).__name__}: {error}", world.story())
    return CheckRun(Verdict.PASS, "", world.story())


def _is_as_new(world: World) -> bool:
    try:
        world.tidy()
        world.leaves_nothing()
    except Exception:  # whatever is wrong with it, the next check must not suffer from it
        return False
    return True


def _killed(session: Session, workers: tuple[str, ...]) -> bool:
    """Kill all workers, where that can be done; say whether the adapter still answers."""
    if "fault.kill" in session.identity.capabilities:
        kills = [session.ask("fault", {"kind": "kill", "worker": worker, "details": {}}) for worker in workers]
        for request in kills:
            try:
                request.wait(STOP_SECONDS)
            except (Hang, AdapterError):
                return False
            except OperationFailed:
                continue
    return True
