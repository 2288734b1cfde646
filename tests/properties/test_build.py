"""A property is made out of predicates: one case for each thing that they speak of."""

from farref.model.checker.interface import Kind
from farref.properties.build import family, make_property, per_world, situations

World = set[str]
Bounds = list[str]


def is_there(world: World, name: str, _bounds: Bounds) -> bool:
    """Q1, by name: a thing is there."""
    return name in world


def are_there(world: World, bounds: Bounds) -> bool:
    """Q1: as many things are there as there may be."""
    return len(world) == len(bounds)


EACH = family(is_there, lambda bounds: [(f"thing {name}", name) for name in bounds])


def test_a_case_says_of_what_it_is_true() -> None:
    made = make_property(["a", "b"], Kind.ALWAYS, "Q1", "Z1", EACH, per_world(are_there))
    found = {case.label: case.holds({"b"}) for case in made.cases}
    assert found == {"is_there: thing a": False, "is_there: thing b": True, "are_there: the whole world": False}


def test_sentences_are_those_of_the_predicates_without_the_name_of_the_property() -> None:
    made = make_property(["a"], Kind.ALWAYS, "Q1", "Z1", EACH, per_world(are_there))
    assert made.text == "A thing is there. As many things are there as there may be."
    assert [case.text for case in made.cases] == ["A thing is there.", "As many things are there as there may be."]
    assert make_property(["a"], Kind.ALWAYS, "Q1", "Z1", EACH, text="All is there.").text == "All is there."


def test_situations_are_those_that_can_be_reached() -> None:
    known = {are_there: ("Z1", lambda bounds: len(bounds) > 1)}
    [found] = situations(["a", "b"], known, per_world)
    assert (found.id, found.clause, found.kind) == ("are_there", "Z1", Kind.SOMETIMES)
    assert situations(["a"], known, per_world) == []
    assert [one.id for one in situations(["a"], known, per_world, everywhere=True)] == ["are_there"]
