"""`farref conform --init NAME`: an adapter to begin with. It runs, declares nothing, and so has every check skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from farref.terminal.files import write
from farref.terminal.output import put

SKELETON: Final = '''\
"""An adapter for {title}. Fill in a verb, declare it, and validate: farref conform --validate-adapter --backend {file}

Begin with `create`, `fetch` and `function.echo`. spec/conformance.md lists them all. A verb returns when it is done.
If it fails it raises: TimeoutError for a timeout, ConnectionError for a peer that has died (named as the kit does: A, B or C),
PermissionError for what the backend refuses, LookupError for what does not exist; anything else is the function's own error.

If the backend can hold its messages back, declare `lockstep` and add `begin`, `deliver`, `copy`, `lose`, `fail`, `expire` and
`look`: then every single step is compared with the model. The section Single steps of spec/conformance.md says how.
"""

from typing import Any


class Adapter:
    name, version = {title!r}, "0"
    capabilities: frozenset[str] = frozenset()  # as frozenset(["create", "fetch", "function.echo"])

    def start(self, workers: list[str], options: dict[str, Any]) -> None:
        """Start the workers. What they hold is kept by worker and name."""
        self.held: dict[tuple[str, str], Any] = {{}}

    def create(
        self, worker: str, name: str, owner: str, function: str | None, args: list[Any], timeout: float | None
    ) -> None:
        """Let `worker` ask `owner` to run a function and keep the result; hold a reference to it."""
        raise NotImplementedError("create")

    def share(self, worker: str, name: str, to: str) -> None:
        """Let a worker pass a reference on."""
        raise NotImplementedError("share")

    def drop(self, worker: str, name: str) -> None:
        """Let go of a reference."""
        del self.held[worker, name]

    def fetch(self, worker: str, name: str, timeout: float | None) -> Any:
        """Fetch the value."""
        raise NotImplementedError("fetch")

    def call(self, worker: str, to: str, function: str, args: list[Any], timeout: float | None) -> Any:
        """Call a function on another worker. An argument {{"rref": name}} is what the caller holds under that name."""
        raise NotImplementedError("call")

    def probe(self, worker: str, name: str | None) -> dict[str, Any]:
        """Count what a worker keeps for others, as {{"owned": 0}}."""
        raise NotImplementedError("probe")

    def fault(self, kind: str, worker: str, details: dict[str, Any]) -> None:
        """Kill or pause the process of a worker."""
        raise NotImplementedError(kind)

    def stop(self) -> list[str]:
        """End every worker. This is also called at the very end, and may be called twice."""
        self.held = {{}}
        return []
'''


def write_skeleton(name: str) -> int:
    """Write the skeleton of an adapter into a file of that name, unless there is such a file, and say what to do next."""
    place = Path(name if name.endswith(".py") else f"{name}.py")
    if place.exists():
        raise click.UsageError(f"{place} is there already; --init does not replace it")
    if not place.stem.isidentifier():
        raise click.UsageError(f"{place.stem!r} cannot be imported; take letters, digits and _")
    write(str(place), SKELETON.format(title=place.stem.replace("_", " "), file=place.name).encode(), "adapter")
    put(f"Next: fill in `create` and `fetch`, declare them, and: farref conform --validate-adapter --backend {place}")
    return 0
