"""`farref prove`: theorems that hold for any number of everything, checked by a solver, or by two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Final

import click

from farref.options.groups import format_option, quiet_option
from farref.options.work import is_shared, with_work_options, work_given
from farref.properties.proof.induction.prove import OnQuestion
from farref.properties.proof.induction.prove import prove as ask
from farref.properties.proof.induction.questions import cases
from farref.properties.proof.induction.theory import Theorem, Verdict
from farref.properties.proof.needed import Needed, judged, needed
from farref.properties.proof.saved import encode
from farref.properties.proof.solvers.known import SOLVERS
from farref.properties.proof.solvers.solver import Solver
from farref.properties.proof.subjects import SUBJECTS, Subject
from farref.properties.work.hiring import hire
from farref.properties.work.units import WorkersLost
from farref.rendering.proved import Judged, Proved, proved_document, proved_markdown, show_proved
from farref.terminal.files import print_json, refuse_place, write
from farref.terminal.output import page, put, remark
from farref.terminal.progress import saying, sharing

SHOWN_MAX: Final = 3
"""So many counterexamples are looked for, one for each clause that is lost."""

Wanted = Callable[[str, str], bool]


@click.command()
@click.argument("subject", type=click.Choice(list(SUBJECTS)), metavar="SUBJECT")
@click.option("--without", metavar="RULE", help="Leave out one rule, and see which clause is lost.")
@click.option("--each", type=click.Choice(["rule"]), help="Leave out each rule in turn: is every one of them needed?")
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Ask only about this theorem, clause (J17, P1) or step (LetGo). May be given several times.",
)
@with_work_options
@click.option("--solver", type=click.Choice([*SOLVERS, "both"]), default="z3", help="Who checks the proof. Default z3.")
@click.option(
    "--save",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a counterexample to a file, for `farref explain`.",
)
@format_option("pretty", "json", "markdown")
@quiet_option
def prove(**given: Any) -> int:
    """Prove the protocols safe and live for any number of workers, references, messages and faults.

    A proof is an invariant that every step keeps. A solver is asked, for each step and each clause of the invariant, whether
    the step can lose the clause. "proved" means that the answer to every question is no. A solver that gives up has
    proved nothing.

    \b
    rref        RRefs: no value is dropped while anybody can name it
    window      control messages (R7): each takes effect once, and memory is bounded, for every size of the window
    autograd    passes are shown whole or not at all; a forgotten context never comes back
    views       members that are excluded, rightly or not: what they held is let go, and never early for the others

    \b
    farref prove rref                                 some seconds
    farref prove rref --solver both                   a second solver gives the same answers
    farref prove rref --each rule                     without each rule a clause is lost
    farref prove rref --each rule --jobs 2            the same in two processes, or with --cluster on many machines
    farref prove rref --without fetch_pins_user       ... and how
    farref prove rref --only J17                      one clause, over all steps
    farref prove rref --without fetch_pins_user --save lost.json
                                                      keep a counterexample; farref explain lost.json -o lost.svg draws it
    """
    subject = SUBJECTS[given["subject"]]
    _refuse(subject, given)
    refuse_place(given["save"])
    solvers = [SOLVERS[name]() for name in SOLVERS if given["solver"] in (name, "both")]
    if is_shared(given):
        proved = _shared_rules(subject, given)
    else:
        with _telling(quiet=given["quiet"]) as on_question:
            if given["each"]:
                proved = _rules(subject, _each_here(subject, solvers[0], on_question))
            else:
                proved = _theorems(subject, solvers, on_question, given)
    _print(proved, given["form"])
    _save(proved, given["save"])
    return proved.exit_code


def _save(proved: Proved, path: str | None) -> None:
    if path is not None and proved.told is not None:
        theorem, told = proved.told
        write(path, encode(told, proved.subject.name, theorem, proved.without), "counterexample")
    elif path is not None:
        remark(f"nothing was refuted, so {path} was not written")


def _print(proved: Proved, form: str) -> None:
    match form:
        case "json":
            print_json(proved_document(proved))
        case "markdown":
            put(proved_markdown(proved))
        case _:
            with page() as console:
                show_proved(console, proved)


@contextmanager
def _telling(*, quiet: bool) -> Iterator[OnQuestion]:
    asked = 0
    with saying(quiet=quiet) as say:

        def tell(place: str, claim: str) -> None:
            nonlocal asked
            asked += 1
            say(f"{asked:,} questions asked; now {place}, {claim}")

        yield tell


# -- theorems ----------------------------------------------------------------------------------------------------------


def _theorems(subject: Subject, solvers: list[Solver], on_question: OnQuestion, given: dict[str, Any]) -> Proved:
    rules = subject.without(given["without"]) if given["without"] else subject.sound
    theorems = [
        one for one in subject.theorems if _names(one, subject.sound) & _asked(given["only"]) or not given["only"]
    ]
    found: list[Judged] = []
    for theorem in theorems:
        for solver in solvers:
            outcome = ask(theorem, solver, rules, on_question, only=_wanted(theorem, given["only"]))
            found.append(_judge(outcome, solver))
            if not outcome.is_whole:
                return Proved(subject, tuple(found), (), given["without"], given["only"], is_whole=False)
    return Proved(subject, tuple(found), (), given["without"], given["only"])


def _judge(outcome: Any, solver: Solver) -> Judged:
    """Show some of what is lost. A counterexample that is found decides also what the solver left open."""
    first = {failure.claim: failure for failure in reversed(outcome.failures)}
    shown = [judged(one, outcome.theorem, solver) for one in list(reversed(first.values()))[:SHOWN_MAX]]
    is_refuted = any(verdict is Verdict.REFUTED for verdict, _ in shown)
    return Judged(
        outcome,
        Verdict.REFUTED if is_refuted else outcome.verdict,
        tuple(told for _, told in shown if told is not None),
    )


# -- rules -------------------------------------------------------------------------------------------------------------


def _rules(subject: Subject, each: Iterator[Needed]) -> Proved:
    rows: list[Needed] = []
    try:
        for row in each:
            rows.append(row)
    except KeyboardInterrupt:
        return Proved(subject, (), tuple(rows), is_whole=False)
    except WorkersLost as lost:
        remark(str(lost))
        return Proved(subject, (), tuple(rows), is_whole=False)
    return Proved(subject, (), tuple(rows))


def _each_here(subject: Subject, solver: Solver, on_question: OnQuestion) -> Iterator[Needed]:
    return (needed(subject, rule, solver, on_question) for rule in subject.rules)


def _shared_rules(subject: Subject, given: dict[str, Any]) -> Proved:
    units = [(subject.name, rule, given["solver"]) for rule in subject.rules]
    with saying(quiet=given["quiet"]) as say, hire(**work_given(given)) as workers:
        return _rules(subject, sharing(workers, "rule", say)(_needed_there, units))


def _needed_there(unit: tuple[str, str, str]) -> Needed:
    """Take a rule away, in whatever process this is."""
    subject, rule, solver = unit
    return needed(SUBJECTS[subject], rule, SOLVERS[solver](), lambda *_: None)


# -- what was asked for ------------------------------------------------------------------------------------------------


def _refuse(subject: Subject, given: dict[str, Any]) -> None:
    rule = given["without"]
    if rule is not None and rule not in subject.rules:
        near = [f"did you mean {one!r}? " for one in get_close_matches(rule, subject.rules, n=1)]
        raise click.UsageError(
            f"--without: no rule is called {rule!r}; {''.join(near)}known are {', '.join(subject.rules)}"
        )
    if rule in subject.silent:
        raise click.UsageError(f"--without: no theorem speaks of {rule}: {subject.silent[rule]}")
    if is_shared(given) and not given["each"]:
        raise click.UsageError("--jobs and --cluster share the rules of --each rule; add it")
    if given["each"] and given["save"]:
        raise click.UsageError("--save keeps one counterexample; leave out --each, and give --without")
    if given["each"] and (rule or given["only"] or given["solver"] == "both"):
        raise click.UsageError(
            "--each goes through all rules with one solver; leave out --without, --only and --solver both"
        )
    known = set().union(*(_names(one, subject.sound) for one in subject.theorems))
    for name in _asked(given["only"]) - known:
        raise click.UsageError(f"--only: there is no theorem, clause or step {name!r}; {_known(subject)}")


def _known(subject: Subject) -> str:
    clauses = [one.id for theorem in subject.theorems for one in theorem.invariant]
    return f"theorems are {', '.join(one.id for one in subject.theorems)}, clauses {clauses[0]} to {clauses[-1]}"


def _asked(only: tuple[str, ...]) -> set[str]:
    return {name.lower() for name in only}


def _names(theorem: Theorem, sound: Mapping[str, bool]) -> set[str]:
    """List all names under which a theorem, or a part of it, can be asked for."""
    claims = [one.id for one in (*theorem.invariant, *theorem.goals)]
    steps = [case.name for case in cases(theorem, sound)]
    lemmas = [one.id for one in theorem.lemmas(sound)]
    return {theorem.id, *(short for one in (*claims, *steps, *lemmas) for short in _short(one))}


def _short(name: str) -> set[str]:
    """A part is also asked for by the beginning of its name: P1 of P1 user, LetGo of LetGo: the user goes."""
    return {name.lower(), name.partition(":")[0].lower(), name.partition(" ")[0].rstrip(":").lower()}


def _wanted(theorem: Theorem, only: tuple[str, ...]) -> Wanted:
    asked = _asked(only)
    if not asked or theorem.id in asked:
        return lambda *_: True
    return lambda place, claim: bool(asked & (_short(place) | _short(claim)))
