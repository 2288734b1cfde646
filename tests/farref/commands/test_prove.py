"""`farref prove`, as a user calls it. What is proved is in `tests/properties/proof/`; here it is asked about in parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import Result

from farref.names import Sort, names
from farref.properties.proof.induction import worlds
from farref.properties.proof.solvers import cvc5_solver, z3_solver
from farref.properties.proof.solvers.solver import Answer

Farref = Callable[..., Result]


def test_a_theorem_is_one_line(farref: Farref) -> None:
    result = farref("prove", "rref", "--only", "j17", "--quiet")
    assert result.exit_code == 0
    assert "safety        25     76       77" in result.stdout
    assert "✓ proved, as far as it was asked" in result.stdout
    assert "note: only the questions about j17 were asked" in result.stdout


def test_the_document_has_the_promised_keys(farref: Farref) -> None:
    found = json.loads(farref("prove", "rref", "--only", "J3", "--quiet", "--format", "json").stdout)
    assert set(found) >= {"subject", "theorems", "rules"}
    [theorem] = found["theorems"]
    assert set(theorem) >= {"id", "clauses", "steps", "queries", "seconds", "solver", "verdict"}
    assert (theorem["id"], theorem["verdict"], theorem["solver"]) == ("safety", "proved", "z3")
    assert theorem["counterexamples"] == theorem["lost"] == []


def test_both_solvers_give_a_line_each(farref: Farref) -> None:
    found = farref("prove", "rref", "--only", "J3", "--quiet", "--format", "markdown", "--solver", "both").stdout
    assert [line.split(" | ")[-2:] for line in found.splitlines()[2:]] == [["z3", "proved |"], ["cvc5", "proved |"]]


def test_a_lost_clause_is_shown_as_two_states(farref: Farref) -> None:
    result = farref("prove", "rref", "--without", "registers_atomically", "--only", "RemoteCall", "--quiet")
    assert result.exit_code == 1
    assert "RemoteCall at f0, x0" in result.stdout
    assert "* has a RemoteCall under way" in result.stdout
    assert "lost: J13: A pending creator has a message under way that settles it" in result.stdout
    assert result.stdout.rstrip().endswith("✗ refuted: the clause is not kept")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rref", "--only", "J99"), "--only: there is no theorem, clause or step 'j99'"),
        (("rref", "--without", "fetch_pins_users"), "did you mean 'fetch_pins_user'?"),
        (("rref", "--each", "rule", "--only", "J1"), "--each goes through all rules"),
        (("rrefs",), "rrefs"),
    ],
)
def test_wrong_usage_is_one_line(farref: Farref, words: tuple[str, ...], said: str) -> None:
    result = farref("prove", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("module", "solver"), [(z3_solver, "z3"), (cvc5_solver, "cvc5")])
def test_a_solver_that_is_missing_is_told_in_one_line(
    farref: Farref, monkeypatch: pytest.MonkeyPatch, module: object, solver: str
) -> None:
    monkeypatch.setattr(module, solver, None)
    result = farref("prove", "rref", "--solver", solver)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == f"farref: {solver} is not installed; in a checkout of farref: pip install '.[proof]'\n"


def test_a_solver_that_gives_up_has_proved_nothing(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3_solver._Session, "satisfiable", lambda _: Answer.UNKNOWN)
    monkeypatch.setattr(worlds, "THINGS_MAX", 1)
    result = farref("prove", "rref", "--only", "J3", "--quiet")
    assert result.exit_code == 4
    assert "? unknown" in result.stdout
    assert "? nothing is proved" in result.stdout


def test_ctrl_c_leaves_what_is_known(farref: Farref, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Answer] = []

    def satisfiable(session: z3_solver._Session) -> Answer:
        if len(asked) == 10:
            raise KeyboardInterrupt
        asked.append(Answer(str(session.solver.check())))
        return asked[-1]

    monkeypatch.setattr(z3_solver._Session, "satisfiable", satisfiable)
    result = farref("prove", "rref", "--quiet", "--format", "json")
    assert result.exit_code == 4
    theorem, *others = json.loads(result.stdout)["theorems"]
    assert others == []
    assert (theorem["queries"], theorem["verdict"]) == (10, "unknown")


def test_every_clause_can_be_looked_up(farref: Farref) -> None:
    found = farref("spec", "j17")
    assert found.exit_code == 0
    assert "A parent lives while it lists a child." in found.stdout
    assert "farref prove rref --only J17" in found.stdout
    assert "clauses of proofs J1 to J25, K1 to K3" in farref("spec", "J99").stderr


def test_no_clause_has_the_name_of_anything_else() -> None:
    ids = [one.id for one in names() if one.kind is Sort.PROOF]
    others = {one.id for one in names() if one.kind is not Sort.PROOF}
    assert len(ids) == len(set(ids))
    assert not others & set(ids)


# -- counterexamples as files ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lost(farref: Farref, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved counterexample to induction."""
    path = tmp_path_factory.mktemp("lost") / "lost.json"
    words = ("--without", "registers_atomically", "--only", "RemoteCall", "--save", str(path))
    assert farref("prove", "rref", *words, "--quiet").exit_code == 1
    return path


def test_a_counterexample_is_explained_and_drawn(farref: Farref, lost: Path, tmp_path: Path) -> None:
    drawing = tmp_path / "lost.svg"
    result = farref("explain", str(lost), "-o", str(drawing))
    assert result.exit_code == 0
    assert "lost: J13: A pending creator has a message under way" in result.stdout
    texts = [one.text for one in ElementTree.fromstring(drawing.read_text()).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "RemoteCall at f0, x0"
    assert texts.count("is pending") == 2
    assert texts.count("has a RemoteCall under way") == 1


def test_a_window_is_drawn_too(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "lost.json"
    assert farref("prove", "window", "--without", "low_is_lowest", "--quiet", "--save", str(path)).exit_code == 1
    found = json.loads(farref("explain", str(path), "--format", "json").stdout)
    assert (found["lost"], found["states"][0]["thing"]) == ("W4", "in all,")


def test_nothing_is_saved_of_what_is_proved(farref: Farref, tmp_path: Path) -> None:
    path = tmp_path / "lost.json"
    result = farref("prove", "window", "--quiet", "--save", str(path))
    assert (result.exit_code, path.exists()) == (0, False)
    assert "nothing was refuted" in result.stderr


DAMAGES: dict[str, tuple[object, str]] = {
    "without": (None, "is not a counterexample"),
    "facts": ([], "is not a counterexample"),
    "at": ({}, "where the step is taken"),
    "lost": ("J99", "names something"),
    "at ": ({"x=print(1)": "f0"}, "not a parameter of a step"),
    "subject": ("rrefs", "names something"),
    "things": (7, "not a counterexample to induction"),
}


@pytest.mark.parametrize("key", DAMAGES)
def test_a_file_that_shows_nothing_is_refused(farref: Farref, lost: Path, tmp_path: Path, key: str) -> None:
    value, said = DAMAGES[key]
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps({**json.loads(lost.read_text()), key.strip(): value}))
    result = farref("explain", str(damaged))
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
