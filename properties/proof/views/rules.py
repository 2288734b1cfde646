"""The rules about members that can be taken away. Those of RRefs are all followed here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Rules = Mapping[str, bool]

RULES: Final = (
    "refuses_the_excluded",  # R37: who has installed a view takes nothing from those excluded in it
    "fails_creation_of_the_excluded",  # R37: a creation that cannot arrive is an error, and its creator counts
    "settles_what_came_from_the_excluded",  # R39: who has settled holds no pending fork of somebody excluded
    "everybody_settles",  # R40: a view is buried when all its members have settled it, and not one of them
    "same_view",  # R40: also a member that was excluded since then
    "waits_until_settled",  # R41: what somebody excluded held is kept until a view is buried
    "children_wait_too",  # R42: a parent keeps a child as long
)

SOUND: Final[Rules] = MappingProxyType(dict.fromkeys(RULES, True))
