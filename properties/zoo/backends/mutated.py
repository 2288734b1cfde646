"""The implementation's own core with one mistake, as the kit sees it: `mutated:NAME` is `simulated` with that mutant let loose.

farref conform --backend farref.properties.zoo.backends.mutated:expected_entry_is_dropped
"""

from __future__ import annotations

from farref.properties.conformance.adapters.simulated.adapter import Adapter
from farref.properties.zoo.catalogue import RREF_MUTANTS
from farref.properties.zoo.mutants.mutant import Mutant


def __getattr__(name: str) -> type[Adapter]:
    """Make the adapter of a mutant. Its process is its own, so nobody has to take the mistake back."""
    if name not in RREF_MUTANTS:
        raise AttributeError(f"no mutant is called {name!r}")
    return _adapter(RREF_MUTANTS[name])


def _adapter(mutant: Mutant) -> type[Adapter]:
    class Mutated(Adapter):
        name = mutant.name.replace("_", " ")

        def __init__(self) -> None:
            mutant.let_loose()
            super().__init__()

    return Mutated
