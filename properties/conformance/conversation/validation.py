"""Talk to an adapter and say, line by line, whether it speaks the protocol. Whether its backend keeps a clause is not asked.

Everything that it declares is tried once: `echo` must echo, what must fail must fail as an answer and not as silence, and
every answer must be of the right type. After a silence nothing more is asked, as nothing more would be learnt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from farref.properties.conformance.conversation.process import STOP_SECONDS
from farref.properties.conformance.conversation.raw import RawSession, Reply, ReplyKind
from farref.properties.conformance.conversation.session import HELLO_NEEDS, HELLO_SECONDS, PROTOCOL
from farref.properties.conformance.conversation.step_trial import step_trials
from farref.properties.conformance.conversation.trial import (
    START_SECONDS,
    Answered,
    Raised,
    Trial,
    WrongAnswer,
    trials,
)
from farref.properties.conformance.kit.backend import CAPABILITIES, FUNCTIONS, RETIRED, TRAITS

WORKERS: Final = ["A", "B", "C"]
WITHOUT: Final = {
    **{f"function.{name}": ("call", "create") for name in FUNCTIONS},
    **{name: ("probe",) for name in CAPABILITIES if name.startswith("probe.")},
    **dict.fromkeys(("share", "local"), ("create",)),
    **dict.fromkeys(("fetch", "drop"), ("create", "backward")),
    **dict.fromkeys(("fast", "smart", "gradients", "retain", "optimizer", "parameter", "recording"), ("backward",)),
    "confirmed": ("probe",),
}
"""What a capability is worth nothing without: one of these."""


@dataclass(frozen=True)
class Remark:
    """What was found about one thing: a mistake, or none."""

    about: str
    mistake: str | None = None
    declared: frozenset[str] = frozenset()
    """What the adapter declares, where that is what the remark is about."""


def validate(command: Sequence[str], start_seconds: float = START_SECONDS) -> Iterator[Remark]:
    """Talk to an adapter, and say of one thing after another whether it is as the protocol says; raise OSError without one."""
    session = RawSession(command)
    try:
        yield from _conversation(session, start_seconds)
    finally:
        session.process.put_down()


def _conversation(session: RawSession, start_seconds: float) -> Iterator[Remark]:
    hello = session.begin("hello", protocol=PROTOCOL).wait(HELLO_SECONDS)
    if mistake := _wrong_hello(session, hello):
        yield Remark("hello", mistake)
    else:
        declared = frozenset(hello.ok["capabilities"])
        said = f"hello: {hello.ok['name']} {hello.ok['version']}, {len(hello.ok['capabilities'])} capabilities"
        yield Remark(said, declared=declared)
        yield from _declared(hello.ok["capabilities"])
        yield from _tried(session, declared, start_seconds)
    complaints = tuple(session.complaints)  # more may come
    yield from (Remark("answers", one) for one in complaints)
    if not complaints:
        yield Remark("answers: each to a request, and nothing else on stdout")
    if not session.is_given_up:  # it may wait to be read, and then it cannot end
        yield from _end(session)


def _wrong_hello(session: RawSession, hello: Reply) -> str | None:
    match hello:
        case Reply(ReplyKind.OK, {"name": str(), "version": str(), "capabilities": list() as found}):
            wrong = [one for one in found if not isinstance(one, str)]
            return f"a capability is a string, and {wrong[0]!r} is none" if wrong else None
        case Reply(ReplyKind.OK):
            return f"{HELLO_NEEDS}, and is {hello.ok!r}"
        case _:
            return _failed(session, hello, HELLO_SECONDS)


def _declared(capabilities: Collection[str]) -> Iterator[Remark]:
    declared = [one for one in capabilities if one not in RETIRED]
    yield from (Remark(f"capabilities: {one} is ignored, as {RETIRED[one]}") for one in capabilities if one in RETIRED)
    wrong = [f"{one!r} is not a capability{_meant(one)}" for one in declared if one not in (*CAPABILITIES, *TRAITS)]
    wrong += [
        f"{one} is declared and {' or '.join(WITHOUT[one])} is not, without which it cannot be tried"
        for one in declared
        if one in WITHOUT and not set(WITHOUT[one]) & set(declared)
    ]
    if "backward" in declared and not {"fast", "smart"} & set(declared):
        wrong.append("backward is declared, and neither of its modes, fast and smart")
    yield from (Remark("capabilities", one) for one in wrong)
    if not wrong:
        yield Remark("capabilities: all known, and none without what it needs")


def _meant(name: str) -> str:
    near = get_close_matches(name, [*CAPABILITIES, *TRAITS], n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _tried(session: RawSession, capabilities: frozenset[str], start_seconds: float) -> Iterator[Remark]:
    for trial in (*trials(WORKERS, start_seconds), *step_trials(WORKERS, start_seconds)):
        if trial.needs <= capabilities:
            mistake, is_over = _try(session, trial)
            yield Remark(trial.about, mistake)
            if is_over:
                yield Remark("the rest", "it was not tried, as nothing is answered any more")
                return


def _try(session: RawSession, trial: Trial) -> tuple[str | None, bool]:
    """Make the requests of a trial all at once, and judge the answers; say whether nothing more can be expected."""
    asked = [session.begin(verb, **request) for verb, request in trial.requests]
    replies = [one.wait(trial.seconds) for one in asked]
    for reply in replies:
        if reply.kind in (ReplyKind.SILENCE, ReplyKind.ENDED):
            return _failed(session, reply, trial.seconds), True
    try:
        trial.judge([_plain(reply) for reply in replies])
    except WrongAnswer as wrong:
        return str(wrong), False
    return None, False


def _plain(reply: Reply) -> Answered | Raised:
    if reply.kind is ReplyKind.OK:
        return Answered(reply.ok, reply.number)
    error: dict[str, Any] = reply.error if isinstance(reply.error, dict) else {}
    return Raised(str(error.get("kind", "error")), str(error.get("message", "")), reply.number)


def _failed(session: RawSession, reply: Reply, seconds: float) -> str:
    match reply.kind:
        case ReplyKind.SILENCE:
            return f"there is no answer within {seconds:g} s"
        case ReplyKind.ENDED:
            return session.why_ended()
        case _:
            return f"it fails: {reply.error}"


def _end(session: RawSession) -> Iterator[Remark]:
    if not session.process.end():
        yield Remark("the end", f"it does not end within {STOP_SECONDS:g} s of the end of its stdin")
    elif not session.process.leaves_nobody():
        yield Remark("the end", "it ends and leaves processes behind")
    else:
        yield Remark("the end: it ends with its stdin, and leaves no process behind")
