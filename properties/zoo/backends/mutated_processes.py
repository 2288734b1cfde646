"""Real processes with one mistake, as the kit sees them: `mutated_processes:NAME` is `processes` with that mutant let loose.

The mistake is made in each worker, before it joins. Those of the shell show here: only real processes have one.

farref conform --backend farref.properties.zoo.backends.mutated_processes:a_waiter_is_not_woken
"""

from __future__ import annotations

from typing import Final

from farref.properties.conformance.adapters.processes.adapter import Adapter
from farref.properties.conformance.adapters.processes.agent import ProcessesAgent
from farref.properties.zoo.catalogue import SHELL_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant

AGENT: Final = "agent_with_"


def __getattr__(name: str) -> type[Adapter] | type[ProcessesAgent]:
    """Make the adapter of a mutant, or the agent that each of its workers has."""
    mutant = SHELL_MUTANTS.get(name.removeprefix(AGENT))
    if mutant is None:
        raise AttributeError(f"no mutant of the shell is called {name!r}")
    return _agent(mutant) if name.startswith(AGENT) else _adapter(mutant)


def _adapter(mutant: Mutant) -> type[Adapter]:
    class Mutated(Adapter):
        name = mutant.name.replace("_", " ")
        agent = f"{__name__}:{AGENT}{mutant.name}"

    return Mutated


def _agent(mutant: Mutant) -> type[ProcessesAgent]:
    class MutatedAgent(ProcessesAgent):
        def __init__(self) -> None:
            mutant.let_loose()
            super().__init__()

    return MutatedAgent
