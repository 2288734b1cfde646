"""What a violated property of distributed autograd means to whoever runs into it, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from farref.model.autograd.root import Phase
from farref.model.autograd.world import pass_of
from farref.model.ids import worker_name
from farref.properties.autograd.always import right_gradient
from farref.properties.autograd.claims import CLAIMS
from farref.properties.autograd.consequences import in_parts
from farref.properties.autograd.replay import AutogradMoment
from farref.properties.traces.story import THE_END, Meaning


def _with_gradients(sentence: str) -> Meaning:
    """Say also where a gradient is wrong."""
    return lambda end, _: " ".join([sentence, *_wrong_gradients(end)])


def _wrong_gradients(end: AutogradMoment) -> Iterator[str]:
    """Say where a gradient is wrong, and what it should be."""
    bounds = end.model.bounds
    for who in bounds.worker_ids:
        seen, right = end.after.workers[who].gradient, right_gradient(end.after, who, bounds)
        if seen != right and who not in end.after.dead:
            shown = "there is no gradient" if seen is None else f"the gradient is {in_parts(seen)}"
            should = "there should be none" if right is None else f"it should be {in_parts(right)}"
            yield f"On {worker_name(who)} {shown}; {should}{_from_whom(right, end)}."


def _from_whom(right: int | None, end: AutogradMoment) -> str:
    """Where passes differ, say that the whole of a gradient is due to those that ended well."""
    ended = [number for number in end.model.bounds.pass_ids if pass_of(end.after, number).phase is Phase.SUCCEEDED]
    if right is None or len(end.model.bounds.pass_ids) == 1:
        return ""
    return f", all of it from pass {' and '.join(map(str, ended))}"


MEANINGS: Final[Mapping[str, Meaning]] = {
    "S1": _with_gradients("backward() has returned, and the gradient is wrong: training goes on with it."),
    "S2": _with_gradients("two passes have returned, and the gradient is not their sum."),
    "S3": _with_gradients(
        "a pass has returned, and a part of one that failed is in its gradient, or a part of its own is missing."
    ),
    "S4": "a gradient was added more than once.",
    "S5": "a gradient will be sent to a worker that has nothing to do with it.",
    "S8": _with_gradients("backward() has raised, and a part of its gradient is there: to try again adds to it."),
    "S9": "a worker takes part in a pass that is over, or whose context is gone: what it waits for never comes.",
    "S10": "the context is there again, and nobody is left who would release it.",
    "S11": "backward() has returned, and its pass goes on somewhere.",
    "T1": "FAST ended otherwise than the graph says it must.",
    "L1": f"{THE_END}, and backward() has not returned: it hangs.",
    "L3": f"{THE_END}, and a worker is still in a pass that has ended.",
    "L4": f"{THE_END}, and the context is still there: a leak for as long as the process lives.",
    "L6": "a pass has failed although nothing went wrong in it.",
    **{claim: _with_gradients(CLAIMS[claim].text) for claim in ("D4", "D5")},
}
"""By property, and by claim where there is more to be said than its text. A test finds out if one is missing."""
