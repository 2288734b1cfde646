"""The control messages about members (R35 to R44): who is excluded, who has settled that, and who is buried.

A *view* is what the authority says of all workers at once. They share the numbering, the retries and the single effect of the
other control messages (R6, R7), and their tags.

A worker that joins anew gets a worker id of its own, and no id is given twice. So nobody takes it for its predecessor: not in a
count, not in an account of calls, not in the list of the excluded (R44).
"""

from __future__ import annotations

from typing import final

from msgspec import Struct

from farref.impl.core.ids import WorkerId

ViewNumber = int
"""The place of a view in the one sequence of views. Everybody begins in view 0, in which nobody is excluded (R35)."""


class _Body(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """What all of them have in common: they are values, and travel as short arrays."""


@final
class View(_Body, frozen=True, tag=17):
    """There are so many worker ids, and these of them are excluded, each for a reason. All others are members (R35).

    The reason is empty for those who are buried: so a view does not grow by a text with everybody who was ever lost.
    """

    number: ViewNumber
    workers: int
    excluded: tuple[tuple[WorkerId, str], ...]


@final
class ViewSettled(_Body, frozen=True, tag=18):
    """I have installed this view, and hold no fork of an excluded worker that its owner does not count (R39)."""

    number: ViewNumber


@final
class Buried(_Body, frozen=True, tag=19):
    """Everybody has settled this view: let go of what the excluded held (R40)."""

    number: ViewNumber


@final
class Suspect(_Body, frozen=True, tag=20):
    """This worker does not answer me. That is advice: the authority decides (R36)."""

    worker: WorkerId
    reason: str


MembersBody = View | ViewSettled | Buried | Suspect
