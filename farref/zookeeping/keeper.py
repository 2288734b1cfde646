"""Let an engine judge a creature in a process of its own.

A creature may do anything: break what the process stands on, take all memory, never end. So each is judged in a child, which
is forked, so that nothing has to be loaded again. How much work it may do is limited in processor time: on a busy machine a
slow creature is not taken for one that hangs. A creature that hangs is killed by that, as a user would notice.
"""

from __future__ import annotations

import pickle
import resource
import signal
import time
from contextlib import suppress
from typing import Any, Final

import msgspec
import multiprocess  # type: ignore[import-untyped]

from farref.properties.zoo.creature import Creature
from farref.tlc.engine import TlcUnavailable
from farref.zookeeping.outcome import Engine, Outcome, killed

CPU_S: Final = 120
"""So much processor time a creature gets with one engine: several times what the longest sound run needs."""
WALL_S: Final = 1800.0
MEMORY_BYTES: Final = 8 << 30


def judge(engine: Engine, creature: Creature) -> Outcome:
    """Let an engine judge a creature, and say how long it took."""
    engine.prepare(creature)
    begin, context = time.monotonic(), multiprocess.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_judge, args=(there, engine, creature))
    child.start()
    there.close()
    outcome = _heard(here, child)
    return msgspec.structs.replace(outcome, seconds=round(time.monotonic() - begin, 2))


def _heard(pipe: Any, child: Any) -> Outcome:
    said: Outcome | BaseException | None = None
    with suppress(EOFError, OSError):
        if pipe.poll(WALL_S):
            said = pickle.loads(pipe.recv_bytes())
    if said is None and child.is_alive():
        child.kill()
    child.join()
    pipe.close()
    if isinstance(said, BaseException):
        raise said
    return said if said is not None else killed(f"it hangs, or ends the process ({_how(child.exitcode)})", 0)


def _how(code: int | None) -> str:
    hung = (-signal.SIGXCPU, -signal.SIGKILL)
    return f"more than {CPU_S} s of processor time" if code in hung else f"exit code {code}"


def _judge(pipe: Any, engine: Engine, creature: Creature) -> None:
    """In the child: judge, and say what came of it."""
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        said: object = engine.judge(creature)
    except MemoryError:
        said = killed("it takes all memory", 0)
    except TlcUnavailable as error:
        said = error  # it was not judged
    except Exception as error:
        said = killed(f"{type(error).__name__}: {error}", 0)
    pipe.send_bytes(pickle.dumps(said))
    pipe.close()
