"""Make the run of a disagreement shorter: leave steps out as long as model and backend still disagree.

Its world is made smaller, if its protocol knows how, as that spares most. Steps that cannot happen without the ones left out
are left out too. Large pieces are tried first, then single steps, until no step can be spared. What remains is not always a
shortest run, and always a real one: it was taken.

A disagreement is never lost on the way. Whatever ends the search early (its time is over, the backend does not start, a
mistake of ours, Ctrl-C), the shortest run so far is given, with a note that says why.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Final

from farref.model.checker.interface import Action
from farref.properties.protocols import protocol_of, sound_model
from farref.properties.twin.backend import Backend
from farref.properties.twin.twin import Disagreement, Twin
from farref.words import in_a_line

SECONDS_MAX: Final = 20.0


def shrink(found: Disagreement, backend: Any, *, seconds_max: float = SECONDS_MAX) -> Disagreement:
    """Find a shorter run that ends in a disagreement, in a world that is as small as possible.

    A backend that runs by itself says how its runs are taken again (`search`).
    """
    search: Search = getattr(backend, "search", Search)(found, backend, time.monotonic() + seconds_max)
    try:
        search.run()
    except TimeIsOverError:
        return search.shortest.noted(f"shrinking stopped after {seconds_max:g} s; there may be a shorter run")
    except (Exception, KeyboardInterrupt) as error:
        return not_shortened(search.shortest, error)
    return search.shortest


def not_shortened(found: Disagreement, error: BaseException) -> Disagreement:
    """Give a disagreement with a note on what kept it from being made shorter."""
    why = "it was interrupted" if isinstance(error, KeyboardInterrupt) else in_a_line(error)
    return found.noted(f"shrinking stopped ({why}); there may be a shorter run")


class TimeIsOverError(Exception):
    """There is no time for another attempt."""


class Search:
    """Looks for a shorter run, and keeps the shortest one that it has found."""

    def __init__(self, found: Disagreement, backend: Any, deadline: float) -> None:
        self.shortest, self.backend, self.deadline = found, backend, deadline

    def run(self) -> None:
        """Search until nothing can be spared."""
        steps = len(self.shortest.actions) + 1
        while len(self.shortest.actions) < steps:
            steps = len(self.shortest.actions)
            while self._finds_a_smaller_world():
                pass
            self._leave_out_steps()

    def _finds_a_smaller_world(self) -> bool:
        found = self.shortest
        for bounds, actions in protocol_of(found.bounds).smaller(found.bounds, found.actions):
            known = frozenset(sound_model(bounds).actions)  # in a smaller world some steps are about nobody
            if self._disagrees(bounds, (one for one in actions if one in known), len(found.actions)):
                return True
        return False

    def _leave_out_steps(self) -> None:
        size = max(1, len(self.shortest.actions) // 2)
        while self._spares_pieces(size) or size > 1:
            size = max(1, size // 2)

    def _spares_pieces(self, size: int) -> bool:
        """Leave out each piece of some size in turn, the last first: what happens late matters least to the rest.

        Whatever was left out, the steps before it are still there. So the search goes on with them, and not anew.
        """
        steps = end = len(self.shortest.actions)
        while end > 0:
            actions, start = self.shortest.actions, max(0, end - size)
            self._disagrees(self.shortest.bounds, (*actions[:start], *actions[end:]), len(actions) - 1)
            end = min(start, len(self.shortest.actions))
        return len(self.shortest.actions) < steps

    def _disagrees(self, bounds: Any, actions: Iterable[Action], steps_max: int) -> bool:
        """Try a run, and keep it if it ends in a disagreement and is short enough."""
        if time.monotonic() >= self.deadline:
            raise TimeIsOverError
        again = self.take_again(bounds, actions)
        if again is None or len(again.actions) > steps_max:
            return False
        self.shortest = again
        return True

    def take_again(self, bounds: Any, actions: Iterable[Action]) -> Disagreement | None:
        """Take those of some steps that can happen, and give what they lead to, if anything."""
        return disagrees(bounds, self.backend, actions)


def disagrees(bounds: Any, backend: Backend, actions: Iterable[Action]) -> Disagreement | None:
    """Take those of some steps that can happen, one after the other, and give the disagreement they lead to, if any.

    Some can be seen only where nothing more can happen, as something is left.
    """
    try:
        twin = Twin(bounds, backend)
        for action in actions:
            if twin.can(action):
                twin.step(action)
        twin.check_if_over()
    except Disagreement as disagreement:
        return disagreement
    return None
