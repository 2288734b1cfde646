"""The rules that can be taken away, by the names that the model and the spec give them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Rules = Mapping[str, bool]

RULES: Final = (
    "registers_on_receipt",
    "registers_atomically",
    "entry_waits_for_creation",
    "entry_counts_local_references",
    "owner_registers_shares",
    "confirms_forks_from_owner",
    "accepts_after_confirmation",
    "accepts_before_user_code",
    "parent_waits_for_children",
    "user_waits_for_confirmation",
    "fetch_pins_user",
    "timeout_is_only_an_answer",
    "withdraws_failed_shares",
    "fails_creation_as_error",
    "processes_once",
    "retries_until_answered",
)

SOUND: Final[Rules] = MappingProxyType(dict.fromkeys(RULES, True))
