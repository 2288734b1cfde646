"""A model beside a proof, for the checker: what such comparisons share, whatever theorem they are of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from farref.model.checker.interface import Case, Kind, Model, Property, Renaming
from farref.properties.proof.induction.theory import Clause


class Beside:
    """A model, each of whose steps is compared with the proof as it is taken. What may happen is what may in the model."""

    @property
    def model(self) -> Model:
        """The model itself."""
        raise NotImplementedError

    @property
    def actions(self) -> Sequence[Any]:
        """Every action of the model."""
        return self.model.actions

    def renamings(self) -> Iterator[Renaming]:
        """None: every world is looked at as it is."""
        return iter(())


def properties_of(
    clauses: Iterable[Clause[Any]], serves: str, cases: Callable[[Clause[Any]], Iterable[Case]]
) -> tuple[Property, ...]:
    """Give clauses of a proof to the checker, and that every step is one of the proof."""
    return (
        *(Property(one.id, one.serves, Kind.ALWAYS, one.text, tuple(cases(one))) for one in clauses),
        Property("steps", serves, Kind.ALWAYS, "Every step is one of the proof.", (Case("-", _is_the_proofs),)),
    )


def _is_the_proofs(state: Any) -> bool:
    """Say whether no step that led here differs from the proof's."""
    return not state.differs
