"""The engines that judge a protocol, not an implementation: the exhaustive check, TLC, and the proof."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from farref.checking.report import Report
from farref.checking.request import Request
from farref.checking.search import Checked, carry_out
from farref.checking.tables import each_rule
from farref.model.checker import fast, reference
from farref.model.checker.interface import Counterexample, Result
from farref.properties.proof.needed import needed
from farref.properties.proof.solvers.known import SOLVERS
from farref.properties.proof.subjects import SUBJECTS
from farref.properties.protocol import AnySubject, Configuration
from farref.properties.protocols import CHECKED
from farref.properties.zoo.alone import ALONE
from farref.properties.zoo.creature import Creature
from farref.properties.zoo.off import PropertyOff, RuleOff
from farref.tlc import members
from farref.tlc.engine import TlcUnavailable
from farref.zookeeping.outcome import Engine, Outcome, killed, survived


def _broken(about: AnySubject, rule: str, **more: Any) -> tuple[Checked, str, Counterexample] | int:
    """Search the protocol without a rule: what breaks first, and where; or the number of states if nothing does."""
    request = Request(about.portfolio, is_portfolio=True, without=rule, **more)
    report = Report(carry_out(request, lambda _: None, first_only=True))
    for name, (run, found) in report.counterexamples.items():
        return run, name, found
    return report.distinct


def world_of(creature: RuleOff) -> Any:
    """Give the world in which the check finds what breaks without a rule."""
    found = _broken(CHECKED[creature.subject], creature.rule)
    assert not isinstance(found, int), "a rule without which nothing breaks is no rule"
    return found[0].configuration.bounds


def _told(about: AnySubject, bounds: Any, rule: str, found: Counterexample) -> list[str]:
    model = about.model(bounds, about.rules_of("sound", rule))
    return [about.tell(moment) for moment in about.replay(model, found.actions)]


# -- the exhaustive check ----------------------------------------------------------------------------------------------


def check(creature: Creature) -> Outcome:
    """Search every state of the portfolio for a violation; with a property that nobody looks at, for what is missed."""
    if isinstance(creature, PropertyOff):
        return _check_oracle(creature)
    assert isinstance(creature, RuleOff)
    about = CHECKED[creature.subject]
    match _broken(about, creature.rule):
        case int(states):
            return survived(states)
        case run, name, found:
            story = _told(about, run.configuration.bounds, creature.rule, found)
            return killed(f"{name} in {len(found.actions)} steps", run.result.distinct, story)


@lru_cache(maxsize=4)
def _table(subject: str) -> tuple[dict[str, Any], ...]:
    """What breaks without each rule: the table that `farref check --each rule` prints, and that a test pins."""
    about = CHECKED[subject]
    return each_rule(Request(about.portfolio, is_portfolio=True), lambda _: None).rows


def _check_oracle(creature: PropertyOff) -> Outcome:
    """Without the property the table of rules must say something else: it is the one that a rule breaks first."""
    rows = [row for row in _table(creature.subject) if row["breaks"] == creature.property]
    if not rows:
        return check_alone(creature)
    row = min(rows, key=lambda one: int(one["distinct"]))
    about = CHECKED[creature.subject]
    bounds = next(one.bounds for one in about.portfolio if one.name == row["configuration"])
    seeing = [one for one in about.properties(bounds) if one.id != creature.property]
    result = fast.check(about.model(bounds, about.rules_of("sound", row["rule"])), seeing, stop_at_violation=True)
    was, now = f"{row['breaks']} in {row['steps']} steps", _first(result)
    said = f"the table of rules: {row['rule']} breaks {was}, and now {now}"
    return killed(said, result.distinct) if now != was else survived(result.distinct)


def check_alone(creature: PropertyOff) -> Outcome:
    """See that a mistake which the property sees first is seen later without it, or by nobody."""
    about, alone = CHECKED[creature.subject], ALONE.get((creature.subject, creature.property))
    if alone is None:
        return survived(len(_table(creature.subject)), "no rule breaks this property first")
    with alone.made():
        model = about.model(alone.world, about.rules_of("sound", alone.rule))
        properties = about.properties(alone.world)
        seen = reference.check(model, properties)
        without = reference.check(model, [one for one in properties if one.id != creature.property])
    was, now = _first(seen), _first(without)
    if not was.startswith(f"{creature.property} ") or was == now:
        return survived(seen.distinct)
    return killed(f"{alone.says}: {was}, and now {now}", without.distinct)


def _first(result: Result) -> str:
    """Say what breaks first."""
    told = (f"{name} in {len(found.actions)} steps" for name, found in result.counterexamples.items())
    return next(told, "nothing")


# -- TLC ---------------------------------------------------------------------------------------------------------------


def tlc(creature: Creature) -> Outcome:
    """Let TLC search the world in which our check finds the violation."""
    assert isinstance(creature, RuleOff)
    about = CHECKED[creature.subject]
    match _broken(about, creature.rule):
        case int():
            return survived(0, "our check knows no world in which it breaks")
        case run, _, _ if members.has_views(run.configuration.bounds):
            try:
                return _by_tlc(creature.rule, run.configuration)
            except TlcUnavailable as error:  # the rule is none that its module can do without
                return survived(0, str(error))
        case run, _, _:
            return _by_tlc(creature.rule, run.configuration)


def _by_tlc(rule: str, world: Configuration) -> Outcome:
    if members.has_views(world.bounds):
        world = replace(world, bounds=replace(world.bounds, self_shares=False))  # which `RRefViews.tla` does not have
    request = Request((world,), without=rule, engine="tlc")
    report = Report(carry_out(request, lambda _: None, first_only=True))
    for name, (_, found) in report.counterexamples.items():
        return killed(f"{name} in {len(found.actions)} steps", report.distinct)
    broken = [name for name, verdict in report.verdicts.items() if verdict.value == "violated"]
    return killed(", ".join(broken), report.distinct) if broken else survived(report.distinct)


# -- the proof ---------------------------------------------------------------------------------------------------------


def proof(creature: Creature) -> Outcome:
    """Ask a solver which clause is lost without the rule."""
    assert isinstance(creature, RuleOff)
    asked = 0

    def count(_place: str, _claim: str) -> None:
        nonlocal asked
        asked += 1

    for name in creature.theorems_of:
        found = needed(SUBJECTS[name], creature.rule, SOLVERS["z3"](), count)
        if found.told is not None:
            return killed(f"{found.lost} is lost in {found.step}", asked, found.told.sentences())
    return survived(asked)


ENGINES = (
    Engine(
        "proof", "farref prove: induction, for any number of everything", "questions",
        lambda one: isinstance(one, RuleOff) and bool(one.theorems_of), proof,
    ),
    Engine(
        "check", "farref check: every state of the portfolio", "states",
        lambda one: isinstance(one, PropertyOff) or (isinstance(one, RuleOff) and one.is_modelled), check,
        lambda one: isinstance(one, PropertyOff) and _table(one.subject),
    ),
    Engine(
        "tlc", "farref check --engine tlc: the TLA+ twins", "states",
        lambda one: isinstance(one, RuleOff) and one.is_modelled and one.subject != "threads", tlc,
    ),
)  # fmt: skip
"""They take rules that are off; the check also takes an oracle that is blind."""
