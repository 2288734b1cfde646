"""Distributed autograd in one process: contexts, what was sent in them, and passes in FAST and SMART mode."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from farref.properties.conformance.kit.programs import Step
from farref.properties.zoo.toy.references import References
from farref.properties.zoo.toy.tape import Node, Pass, Send, arriving, compute, ordered


@dataclass(eq=False)
class Context:
    """What was computed and sent under one name."""

    creator: str
    known: set[str]
    results: dict[str, Node | float] = field(default_factory=dict)
    kept: dict[str, Node | float] = field(default_factory=dict)
    """Results that were left on another worker."""
    sends: list[Send] = field(default_factory=list)
    gradients: dict[str, float] = field(default_factory=dict)
    running: Pass | None = None


class Gradients:
    """All contexts and leaves of a world."""

    def __init__(self, references: References, timeout: float) -> None:
        self.references, self.timeout, self.lock = references, timeout, threading.RLock()
        self.contexts: dict[str, Context] = {}
        self.leaves: dict[str, Node] = {}

    def context(self, name: str, worker: str) -> Context:
        """Find a context, or open it."""
        with self.lock:
            return self.contexts.setdefault(name, Context(worker, {worker}))

    # -- steps ---------------------------------------------------------------------------------------------------------

    def take(self, worker: str, context: Context, step: Step) -> None:
        """Take a step of a program."""
        match step:
            case {"leaf": name, "on": on, "value": value}:
                self.leaves[name] = Node(float(value), on, name=name)
            case {"optimize": names, "rate": rate}:
                self.optimize(context, names, rate)
            case {"let": name, "fetch": of}:
                source = self.worker_of(context.kept[of], worker)
                context.results[name] = self.send(context, source, worker, [context.kept[of]])[0]
            case {"remote": name, "on": on}:
                context.kept[name] = self.compute_there(worker, context, step, [on])
            case {"let": name, "on": on}:
                path = [*step.get("through", ()), on]
                context.results[name] = self.come_back(
                    context, path, worker, self.compute_there(worker, context, step, path)
                )
            case {"let": name, "operation": operation, "args": args}:
                context.results[name] = compute(operation, self.given(context, args), worker)

    def worker_of(self, value: Node | float, otherwise: str) -> str:
        """Say where a value is."""
        return value.worker if isinstance(value, Node) else otherwise

    def compute_there(self, worker: str, context: Context, step: Step, path: Sequence[str]) -> Node | float:
        """Send the arguments along a path, and compute at its end."""
        values, source = self.given(context, step["args"]), worker
        for target in path:
            values = self.send(context, source, target, values, step.get("recording", True))
            source = target
        return compute(step["operation"], values, path[-1])

    def come_back(self, context: Context, path: Sequence[str], worker: str, value: Node | float) -> Node | float:
        """Send a result back along a path."""
        for source, target in zip(reversed(path), [*reversed(path[:-1]), worker], strict=True):
            [value] = self.send(context, source, target, [value])
        return value

    def given(self, context: Context, args: Sequence[Any]) -> list[Node | float]:
        """Find the arguments."""
        found = {**self.leaves, **context.results}
        return [found[one] if isinstance(one, str) else one for one in args]

    def send(
        self, context: Context, source: str, target: str, values: Sequence[Node | float], recording: bool = True
    ) -> list[Node | float]:
        """Send values to another worker. Those that are at home there need no sending."""
        for one in (source, target):
            if one in self.references.dead:
                raise ConnectionError(f"worker {one} has died")
        context.known |= {source, target}
        sent = [one for one in values if isinstance(one, Node) and not (one.name and one.worker == target)]
        if not recording:
            return [one.value if isinstance(one, Node) and one in sent else one for one in values]
        arrived = {one: Node(one.value, target, ((one, 1),)) for one in sent}
        self.record(context, Send(source, tuple(arrived.values())))
        return [arrived.get(one, one) if isinstance(one, Node) else one for one in values]

    def record(self, context: Context, send: Send) -> None:
        """Remember that a gradient may come back to a call."""
        if send.arrived:
            context.sends.append(send)

    def optimize(self, context: Context, names: Sequence[str], rate: float) -> None:
        """Move every leaf that has a gradient in this context."""
        for name in names:
            if name in context.gradients:
                self.leaves[name].value -= rate * context.gradients[name]

    # -- passes --------------------------------------------------------------------------------------------------------

    def go_back(self, worker: str, context: Context, names: Sequence[str], mode: str, retain: bool) -> None:
        """Run a pass to its end, in time."""
        roots = [context.results[name] for name in names]
        if not all(isinstance(root, Node) for root in roots):
            raise ValueError("a root needs no gradient")
        one = Pass([root for root in roots if isinstance(root, Node)], {worker})
        with self.lock:
            if context.running is not None:
                raise RuntimeError("a pass of this context is under way")
            context.running = one
        thread = threading.Thread(target=self._guarded, args=(context, one, mode, retain), daemon=True)
        thread.start()
        if not one.over.wait(self.timeout):
            one.fail(TimeoutError(f"the pass was not over within {self.timeout:g} s"))
        self.leave(context)
        if one.fault is not None:
            raise one.fault

    def leave(self, context: Context) -> None:
        """End everybody's part in a pass."""
        context.running = None

    def _guarded(self, context: Context, one: Pass, mode: str, retain: bool) -> None:
        try:
            self._run(context, one, mode, retain)
            one.over.set()
        except Exception as fault:
            one.fail(fault)

    def _run(self, context: Context, one: Pass, mode: str, retain: bool) -> None:
        nodes = ordered(one.roots)
        self.judge(context, one, set(nodes), mode)
        staged: dict[Node, float] = {}
        for root in one.roots:
            staged[root] = staged.get(root, 0) + 1
        for node in nodes:
            self.visit(one, node)
            for parent, factor in node.parents:
                staged[parent] = self.add(staged.get(parent), staged[node] * factor, node)
        with self.lock:
            if not one.over.is_set():
                self.commit(context, nodes, staged, retain)

    def add(self, so_far: float | None, more: float, _node: Node) -> float:
        """Add up what comes to a node."""
        return (so_far or 0) + more

    def judge(self, context: Context, one: Pass, reached: set[Node], mode: str) -> None:
        """Find out who takes part, and whether everything they wait for will come."""
        sends = list(context.sends)
        coming = arriving(sends, reached)
        one.workers |= {send.source for send in coming}
        missing = sorted({send.source for send in sends if send.source in one.workers and send not in coming})
        if missing and mode == "fast":
            self.unreached(one, missing)
        if any(node.freed for node in reached):
            raise RuntimeError("an earlier pass has freed what this one needs")

    def unreached(self, _one: Pass, missing: Sequence[str]) -> None:
        """Say that a pass waits in vain."""
        raise RuntimeError(f"no gradient comes back to calls that left from {', '.join(missing)}")

    def visit(self, one: Pass, node: Node) -> None:
        """Do what a node has in store for a gradient."""
        if node.operation == "late":
            one.over.wait(node.seconds)
        if node.operation == "trap":
            raise RuntimeError(f"ValueError on {node.worker}: its gradient cannot be computed")

    def commit(self, context: Context, nodes: Sequence[Node], staged: Mapping[Node, float], retain: bool) -> None:
        """Show the gradients, all at once."""
        for node in nodes:
            if node.name:
                context.gradients[node.name] = context.gradients.get(node.name, 0) + staged[node]
            node.freed = not retain and node.operation == "mul"

    # -- the end -------------------------------------------------------------------------------------------------------

    def release(self, name: str) -> None:
        """Let everybody forget a context, and end the pass that runs in it."""
        if name not in self.contexts:
            raise LookupError(f"nothing is called {name}")
        context = self.contexts[name]
        self.references.post(context.creator, "CleanupContext", lambda: self.forget(name))
        if context.running is not None:
            context.running.fail(RuntimeError("the context was released"))

    def forget(self, name: str) -> None:
        """Remove the last trace of a context."""
        self.contexts.pop(name, None)

    def bury(self, worker: str) -> None:
        """End passes in which a dead worker took part, and drop contexts that it made."""
        for name, context in list(self.contexts.items()):
            if context.running is not None and worker in context.running.workers:
                context.running.fail(ConnectionError(f"worker {worker} has died"))
            if context.creator == worker:
                self.forget(name)
