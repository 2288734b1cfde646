"""Stories: the headline told word for word, and random runs told cleanly."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import pytest

from farref.model.checker.interface import Counterexample
from farref.model.rref.model import RRefModel
from farref.model.rref.rules import OF_MEMBERS, PROFILES, RULES, SOUND, TORCH, RRefRules
from farref.model.rref.world import Bounds
from farref.properties.protocol import Claim
from farref.properties.rref.always import rref_properties
from farref.properties.rref.claims import CLAIMS
from farref.properties.rref.protocol import RREF
from farref.properties.traces.replay import ReplayError
from tests.model.play import named
from tests.model.rref.play import Play
from tests.properties.rref.known import shortest

N1 = """\
A asks B to run a function and keep its result as x0; A holds fork f0 (unconfirmed)
A calls C with x0 as argument, as fork f1
A calls B with x0 as argument, as fork f2
B receives Call(f2) from A; its creation has not arrived, so B makes an entry of x0 with no value and no forks; \
the code on B that received it waits for the value; B tells A: ChildAccept(f2)
C receives Call(f1) from A; the call waits until f1 is confirmed; C tells B: ForkRequest(f1)
B receives ForkRequest(f1) from C; B counts f1; B acknowledges it
C receives Ack(ForkRequest(f1)) from B; f1 is confirmed; the call that waited for it runs
the function on C that received f1 ends; C tells A: ChildAccept(f1)
C lets go of f1; nothing needs f1 any more, so C deletes it; C tells B: UserDelete(f1)
B receives UserDelete(f1) from C; B no longer counts f1; B drops its entry of x0, although code on B waits for its value \
and A's f0 lives; B acknowledges it
B receives RemoteCall(f0) from A; B runs the function, and registers nothing until it ends
the function that computes x0 ends on B; B makes a second entry for x0: it dropped the first one"""

N1_RUN = (
    "CreateRemote(x0, A)", "UserShare(f0, C, Call)", "UserShare(f0, B, Call)", "Deliver(Call(f2))", "Deliver(Call(f1))",
    "Deliver(ForkRequest(f1))", "Deliver(Ack(ForkRequest(f1)))", "EndCall(f1)", "LetGo(f1)", "Deliver(UserDelete(f1))",
    "Deliver(RemoteCall(f0))", "FinishFunction(x0)",
)  # fmt: skip

EVERYTHING = Bounds(
    3, rrefs=2, forks=3, drops=3, duplicates=3, timeouts=2, fetches=2, failures=2, results=True, shutdown=True
)


def test_the_headline_word_for_word() -> None:
    model = RRefModel(CLAIMS["N1"].bounds, TORCH)
    told = [RREF.tell(moment) for moment in RREF.replay(model, named(model, *N1_RUN))]
    assert told == N1.splitlines()


@pytest.mark.parametrize(
    ("pins", "why"), [(True, "f1 has not accepted and its fetch is not answered"), (False, "f1 has not accepted")]
)
def test_a_user_is_kept_for_what_the_rules_heed(pins: bool, why: str) -> None:
    model = RRefModel(Bounds(3, forks=2, fetches=1, timeouts=1), replace(SOUND, fetch_pins_user=pins))
    run = ("CreateRemote(x0, A)", "UserShare(f0, C, Call)", "FetchValue(f0)", "AbandonFetch(f0)", "LetGo(f0)")
    told = [RREF.tell(moment) for moment in RREF.replay(model, named(model, *run))]
    assert told[-1] == f"A lets go of f0; A keeps it, because it is not confirmed and {why}"


RULE_SETS = {**PROFILES, **{rule: SOUND.without(rule) for rule in RULES}}


@pytest.mark.parametrize("rules", RULE_SETS.values(), ids=RULE_SETS)
def test_every_run_can_be_told(rules: RRefRules) -> None:
    """Random runs, deep into everything that can go wrong: each step is a clean sentence about real workers."""
    model, random = RRefModel(EVERYTHING, rules), Random(0)
    for _ in range(10):
        play, labels = Play(EVERYTHING, rules), list[str]()
        while len(labels) < 60 and (enabled := play.enabled()):
            labels.append(random.choice(enabled))
            play(labels[-1])
        for moment in RREF.replay(model, named(model, *labels)):
            sentence = RREF.tell(moment)
            assert moment.worker in {"A", "B", "C", "network", "everyone"}
            assert not re.search(r"None|  |;;|because $|<", sentence)


VIEWS = Bounds(3, forks=3, fetches=1, cuts=2, exclusions=2, results=True, lost_owners=True)


@pytest.mark.parametrize("rules", [SOUND, *map(SOUND.without, OF_MEMBERS)], ids=["sound", *OF_MEMBERS])
def test_every_run_with_views_can_be_told(rules: RRefRules) -> None:
    model, random = RRefModel(VIEWS, rules), Random(0)
    for _ in range(10):
        play, labels = Play(VIEWS, rules), list[str]()
        while len(labels) < 60 and (enabled := play.enabled()):
            labels.append(random.choice(enabled))
            play(labels[-1])
        for moment in RREF.replay(model, named(model, *labels)):
            assert moment.worker in {"A", "B", "C", "network", "authority"}
            assert not re.search(r"None|  |;;|because $|<", RREF.tell(moment))


def test_what_an_exclusion_leads_to_is_told() -> None:
    model = RRefModel(Bounds(2, forks=1, exclusions=1))
    run = (
        "CreateRemote(x0, A)",
        "Deliver(RemoteCall(f0))",
        "FinishFunction(x0)",
        "Exclude(A)",
        "Install(B)",
        "Settle(B, 1)",
    )
    told = [RREF.tell(moment) for moment in RREF.replay(model, named(model, *run, "Bury(1)", "Reclaim(B)"))]
    assert told[3:] == [
        "the authority excludes A, in view 1",
        "B installs view 1: it takes nothing from those excluded in it any more",
        "B tells the authority that it has settled view 1",
        "the authority buries view 1",
        "B learns that view 1 is buried; f0 no longer counts; the entry of x0 goes",
    ]


def test_what_comes_from_the_excluded_is_told_as_refused() -> None:
    model = RRefModel(Bounds(2, forks=1, exclusions=1))
    run = ("CreateRemote(x0, A)", "Exclude(A)", "Install(B)", "Deliver(RemoteCall(f0))")
    *_, last = (RREF.tell(moment) for moment in RREF.replay(model, named(model, *run)))
    assert last == "B receives RemoteCall(f0) from A; B refuses it, as its sender is excluded"


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_every_claim_means_what_it_says(claim: Claim) -> None:
    found = shortest(claim)
    *_, end = RREF.replay(RRefModel(claim.bounds, TORCH), found.actions)
    assert RREF.meaning(found, end) == claim.text


def test_a_loop_means_for_ever() -> None:
    [left] = [one for one in rref_properties(Bounds()) if one.id == "P3"]
    model = RRefModel(Bounds())
    *_, end = RREF.replay(model, named(model, "CreateLocal(x0)"))
    assert "step 4 repeats for ever" in RREF.meaning(Counterexample(left, "something: RRef x0", (), loop_start=4), end)


def test_an_impossible_step_is_named() -> None:
    model = RRefModel(Bounds())
    with pytest.raises(ReplayError, match=r"step 1, LetGo\(f0\)"):
        list(RREF.replay(model, named(model, "LetGo(f0)")))


def test_workers_get_familiar_names() -> None:
    """Whoever comes first is A, the owner stays B, and the run is still one."""
    bounds = Bounds(workers=4)
    model = RRefModel(bounds)
    labels = ["CreateRemote(x0, D)", "UserShare(f0, A, Call)", "UserShare(f0, B, Call)", "Deliver(Call(f1))"]
    renamed = RREF.familiar(bounds, named(model, *labels))
    assert [str(action) for action in renamed[:3]] == ["CreateRemote(x0, A)", "UserShare(f0, C, Call)", labels[2]]
    assert len(list(RREF.replay(model, renamed))) == 4
