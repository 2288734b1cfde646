"""How each state was found: five or six bytes for each, enough to tell a shortest run to any of them."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from farref.model.checker.chunks import Numbers


class Origins:
    """The parent and the action of each state, by number; state 0 is the initial one."""

    def __init__(self, actions: int) -> None:
        self._starts: list[int] = []
        self._parents: list[NDArray[np.uint32]] = []
        self._actions: list[NDArray[np.unsignedinteger]] = []
        self._action_type = np.min_scalar_type(actions)
        self.size = 1

    def add(self, parents: Numbers, actions: Numbers) -> None:
        """Number further states."""
        if parents.size:
            self._starts.append(self.size)
            self._parents.append(parents.astype(np.uint32))
            self._actions.append(actions.astype(self._action_type))
            self.size += parents.size

    def path(self, number: int) -> list[int]:
        """List the numbers of the actions that lead from the initial state to a state."""
        actions: list[int] = []
        while number:
            block = bisect_right(self._starts, number) - 1
            place = number - self._starts[block]
            actions.append(int(self._actions[block][place]))
            number = int(self._parents[block][place])
        return actions[::-1]
