"""What a backend offers in order to be judged: twelve verbs, and a list of what it can do.

An *adapter* puts these verbs in front of a backend. It is either a Python class, in a file or a module, or any program that
takes the same verbs as JSON lines (`spec/conformance.md`). The kit sees nothing else of a backend.

**Names.** The kit names everything. Workers are `A`, `B`, `C`. A *handle* is a reference that a worker holds under a name:
`create("A", "x", owner="B", …)` makes one on A, `share("A", "x", to="C")` makes another on C, also called x. Leaves and
results of a gradient computation have names too (`programs.py`), and so have autograd contexts.

**Functions.** No code travels. A backend has a few functions that are named in `FUNCTIONS`; `create` and `call` say which is
meant. An argument is a JSON value, or `{"rref": name}` for a handle that the calling worker holds under that name.

**Waiting.** A verb returns when it has been carried out, so `fetch` of a slow value takes as long as the value does. Where a
backend can do several things at once (`concurrent`), the kit calls verbs from several threads.

**Errors.** A verb that fails raises. The standard exception says what kind of failure it was (`KINDS`): TimeoutError for a
timeout, ConnectionError for a peer that has died, PermissionError for what the backend refuses to do, LookupError for what
does not exist; anything else, KeyError and IndexError too, is an error of the function that was called, or the backend's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

Value: TypeAlias = Any
"""A JSON value."""

VERBS: Final = (
    "start", "create", "share", "drop", "fetch", "call", "backward", "gradients", "probe", "collect", "fault", "stop",
)  # fmt: skip

KINDS: Final[dict[str, type[Exception]]] = {
    "timeout": TimeoutError,
    "dead": ConnectionError,
    "refused": PermissionError,
    "unknown": LookupError,
    "unsupported": NotImplementedError,
    "error": Exception,
}
"""The kinds of failure, the first that fits."""

FUNCTIONS: Final = {
    "echo": "give back the only argument",
    "slow": "wait for as many seconds as the first argument says, then give back the second",
    "busy": "keep the worker as busy as one function can, for as many seconds as the argument says, and give back true",
    "fail": "raise a ValueError with the argument as its message",
    "misuse": "raise an error of the backend's own, as one of its built-in operations does when it is misused",
    "value_of": "give the value of the RRef that is the argument, waiting for it; on its owner, without a message",
    "pass_on": "call the worker that is the second argument with `value_of` of the RRef, then give its value here too",
    "hold": "keep the RRef that is the first argument for as many seconds as the second says, and give back true",
    "later": "wait for as many seconds as the second argument says, then give the value of the RRef that is the first",
    "count": "give how often `count` has been called on this worker with this argument, this call included",
    "witness": "count this call under the first argument, as `count` does; then give the values of the RRefs that follow",
    "unwritable": "give a value that cannot be put into a message",
    "nest": "depth, here, there: if depth is 0 give 0, else call `there` with nest(depth - 1, there, here) and give 1 more",
    "heirloom": "give an object that was there before the workers started; its value is the name of the worker",
    "missing": "a function that the caller can name and the callee does not have",
}
"""What the functions do that `create` and `call` name. A backend declares those it has as `function.NAME`."""

SPECIAL: Final = {
    "rref": "a handle of the calling worker",
    "unwritable": "a value that cannot be put into a message (write it as {'unwritable': true})",
    "unreadable": "a value that can be sent and that its receiver cannot read (write it as {'unreadable': true})",
}
"""Arguments that are no values. The last two are declared as `argument.NAME`."""

CAPABILITIES: Final = {
    **{verb: f"the verb {verb}" for verb in VERBS if verb not in ("start", "stop", "collect", "fault")},
    **{f"function.{name}": said for name, said in FUNCTIONS.items()},
    **{f"argument.{name}": said for name, said in SPECIAL.items() if name != "rref"},
    "concurrent": "several verbs at once",
    "local": "create with no function: an RRef of a value that the worker has",
    "timeout": "the argument `timeout` of create, fetch and call, and the option `timeout` of start, also for passes",
    "confirmed": "probe(worker, name) says whether the handle is `confirmed` by its owner",
    "probe.owned": "probe(worker) says how many RRefs the worker keeps a value for",
    "probe.forks": "probe(worker) says how many references of others the worker counts",
    "probe.pending": "probe(worker) says how many of its own references are not confirmed yet",
    "probe.children": "probe(worker) says how many references of it are pinned by what they were shared with",
    "probe.contexts": "probe(worker) says how many autograd contexts it knows",
    "probe.passes": "probe(worker) says how many backward passes it is in",
    "fault.kill": "fault('kill', worker): end its process at once. It may be dead already: then do nothing",
    "fault.pause": "fault('pause', worker, seconds=n): stop its process for so long",
    "fault.cut": "fault('cut', worker, to=other): break the connection between two workers that live",
    "fault.restart": "fault('restart', worker): start a worker again that was killed, under its name, as a new process",
    "fault.lose": "fault('lose', worker, message=M, times=n): lose the next n messages of a kind that it sends",
    "fault.delay": "fault('delay', worker, message=M, seconds=s): hold back the next message of a kind that it sends",
    "fault.duplicate": "fault('duplicate', worker, message=M, seconds=s): send the next one twice, the copy so much later",
    "silence": "start takes the option `silence`: after so many seconds without a word a worker is taken for dead",
    "reclaims": "what a worker held that has died is given back before the end (R41)",
    "stop.graceful": "stop waits for what is under way, ends within its deadline, and says what it could not release",
    "restart": "after start with the option `again`, stop lets the processes live, and the next start is in them",
    "fast": "backward in FAST mode",
    "smart": "backward in SMART mode",
    "retain": "several passes over one graph",
    "optimizer": "the step `optimize` of programs",
    "parameter": "leaves that say `parameter`",
    "recording": "steps that say `recording`",
    "traced": "start takes the option `log`, a directory, and the workers write logs there as spec/log.md says",
    "lockstep": "start takes the option `lockstep`: then nothing happens by itself, and the step verbs say what happens",
}
"""Everything a backend may declare. What it does not declare is skipped, not failed."""

TRAITS: Final = {
    "gc": "letting go is noticed by a garbage collector: the kit asks for `collect` before it reads counts",
    "relay": "whoever is given a reference by a user reaches the owner through that user, and not without it",
    "several": "several adapters of it can run at once on one machine, so `--jobs` may run its checks side by side",
    "caller_owns": "a value, or a copy of it, is kept by whoever asked for it, and so may outlive who computed it",
}
"""What a backend may declare about itself. No check needs it; it changes how some checks ask, or what they take for right."""

RETIRED: Final = {
    "controlled": "it came without verbs for single steps; `lockstep` has them",
}
"""What could be declared once, and why it no longer matters. It is accepted and ignored, so that old adapters still work."""

MESSAGES: Final = ("ForkRequest", "ChildAccept", "UserDelete", "RemoteCall", "FetchCall", "CleanupContext")
"""The kinds of messages that faults name, as in the spec."""


class Adapter(Protocol):
    """A backend behind an adapter: start, then any of the others, then stop; and again, as often as the kit likes."""

    name: str
    version: str
    capabilities: frozenset[str]

    def start(self, workers: Sequence[str], options: Mapping[str, Value]) -> None:
        """Start some workers. Options: `timeout` (seconds, the default of calls), `log` (a directory), `again`, `silence`,
        `lockstep`."""

    def create(
        self, worker: str, name: str, owner: str, function: str | None, args: Sequence[Value], timeout: float | None
    ) -> None:
        """Let a worker ask an owner to run a function and keep the result, as `remote()` does; do not wait for it.

        Without a function the worker is the owner, and the only argument is the value.
        """

    def share(self, worker: str, name: str, to: str) -> None:
        """Let a worker pass a handle to another, which keeps it under that name, and lets go of what it had there."""

    def drop(self, worker: str, name: str) -> None:
        """Let a worker let go of a handle, or of an autograd context."""

    def fetch(self, worker: str, name: str, timeout: float | None) -> Value:
        """Let a worker fetch the value of a handle, or of a leaf that it has."""

    def call(self, worker: str, to: str, function: str, args: Sequence[Value], timeout: float | None) -> Value:
        """Let a worker call a function on another and wait for the result."""

    def backward(
        self,
        worker: str,
        context: str,
        steps: Sequence[Mapping[str, Value]],
        roots: Sequence[str],
        mode: str,
        retain: bool,
        timeout: float | None,
    ) -> None:
        """Let a worker take the steps of a program in a context, and if there are roots, the backward pass from them."""

    def gradients(self, worker: str, context: str) -> Mapping[str, float]:
        """Give the gradients that a worker has in a context, of the leaves that have one, by their names."""

    def probe(self, worker: str, name: str | None) -> Mapping[str, Value]:
        """Look at a worker's tables, or at one of its handles."""

    def collect(self) -> None:
        """Let every worker that lives collect its garbage now. Only those that declare `gc` need it."""

    def fault(self, kind: str, worker: str, details: Mapping[str, Value]) -> None:
        """Make something go wrong."""

    def stop(self) -> Sequence[str]:
        """Stop all workers, leaving no process behind; say what could not be released."""
