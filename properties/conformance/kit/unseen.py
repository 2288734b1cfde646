"""The clauses that nobody can see from outside, or that no check asks for yet; why, and what looks at them instead."""

from __future__ import annotations

from typing import Final

_MEMBERS: Final = (
    "Views cannot be seen from outside. What they bring about is R36, R38, R39 and R41 to R44; "
    "spec/proof.md says what is proved of them."
)

UNSEEN: Final = {
    "R1": "It says what words mean. What the words say of tables is looked at in R8 and R9.",
    "R5": "It names messages, which cannot be seen from outside. What it demands of them is R6 and R7; that there are these "
    "and no others shows in logs (R33.traced).",
    "R11": "The two steps that must be one are nanoseconds apart: nothing outside can act between them. The checker does "
    "(claim N10).",
    "A1": "It says what words mean.",
    "A5": "It names the messages of a pass, which cannot be seen from outside. What they bring about is A13 to A20; the "
    "checker searches every order in which they can arrive (farref check autograd).",
    "A6": "It names the messages of a release, which cannot be seen from outside. What they bring about is A24 and A25.",
    "A28": "It says what is out of scope, and demands nothing.",
    **{f"R{number}": _MEMBERS for number in (35, 37, 40, 45, 46)},
    "A29": "It is stated, and asked of no backend yet. spec/proof.md says what is proved of it.",
}
"""Every other clause has a check."""
