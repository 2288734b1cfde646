"""What cannot be written is refused, whatever is wrong with it: nobody waits for ever, and nobody is taken for dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from farref.impl import (
    Cluster,
    RefusedCall,
    RefusedFunction,
    RefusedResult,
    RefusedValue,
    RemoteError,
    RRef,
    get_debug_info,
    launch,
    remote,
    rpc_async,
    rpc_sync,
)
from farref.impl.api import current
from tests.impl.far import unwritable as far


@pytest.fixture(scope="module", autouse=True)
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=[far.__name__], rpc_timeout=20) as cluster:
        yield cluster
        assert rpc_sync("A", far.echo, [1]) == 1, "A is alive after all of this"


def test_R20_a_value_that_cannot_be_written_is_refused_and_its_owner_lives() -> None:
    reference = remote("A", far.no_text)
    with pytest.raises(RefusedValue, match="cannot be written"):
        reference.to_here()


def test_R3_a_result_that_cannot_be_written_is_an_error_of_the_call() -> None:
    with pytest.raises(RefusedValue, match="cannot be written"):
        rpc_sync("A", far.no_text)
    with pytest.raises(RefusedValue, match="cannot be written"):
        rpc_sync("A", far.echo, ["\udcff"])


FAILING = [
    far.fail_without_text,
    far.fail_speechless,
    far.fail_at_length,
    far.end_later,
    far.fail_lonely,
    far.fail_strict,
    far.fail_misnamed,
    far.fail_as_a_group,
    far.fail_interrupted,
    far.fail_nameless,
    far.fail_annotated,
    far.fail_closed,
    far.fail_uncounted,
]


@pytest.mark.parametrize("function", FAILING)
def test_R3_an_error_that_cannot_be_written_as_it_is_arrives_all_the_same(function: object) -> None:
    with pytest.raises(RemoteError):
        rpc_sync("A", function)  # type: ignore[arg-type]
    assert rpc_sync("A", far.echo, [1]) == 1, "A is alive"


def tables_of(argument: RRef) -> object:
    """What this worker keeps, of entries that of one RRef only: another test's may be about to go."""
    tables = get_debug_info()
    entry = [one for one in tables.entries if one.rref == argument.id]
    return entry, tables.users, tables.parked_calls, tables.unanswered


@pytest.mark.parametrize("name", ["a\udcffb:f", "é" * 600, "x" * 70_000_000], ids=["no text", "long", "huge"])
@pytest.mark.parametrize("begin", [rpc_sync, rpc_async, remote])
@pytest.mark.parametrize("to", ["A", "driver"])
def test_R28_a_name_that_cannot_be_written_is_refused_and_leaves_nothing(
    to: str, begin: Callable[..., object], name: str
) -> None:
    argument = RRef(1)
    before = tables_of(argument)
    with pytest.raises(RefusedFunction, match="is no name") as refused:
        begin(to, name, [argument])
    assert len(str(refused.value)) < 1000
    assert not current().calls
    assert tables_of(argument) == before


def test_a_name_of_any_letters_travels() -> None:
    with pytest.raises(RefusedFunction, match="é:è is not registered"):
        rpc_sync("A", "é:è")


@pytest.mark.parametrize("function", FAILING)
def test_R20_nor_does_a_fetch_of_such_an_error_end_anybody(function: object) -> None:
    with pytest.raises(RemoteError):
        remote("A", function).to_here()  # type: ignore[arg-type]
    assert rpc_sync("A", far.echo, [1]) == 1, "A is alive"


@pytest.mark.parametrize("to", ["A", "driver"])
@pytest.mark.parametrize("function", [far.hidden, far.classless, far.unhashable])
def test_R3_a_result_whose_class_raises_whatever_it_is_asked_is_refused(function: object, to: str) -> None:
    with pytest.raises(RefusedResult):
        rpc_sync(to, function)  # type: ignore[arg-type]
    assert rpc_sync(to, far.echo, [1]) == 1, "both are alive"


def test_R20_so_is_a_value() -> None:
    for function in (far.hidden, far.classless, far.unhashable):
        with pytest.raises(RefusedResult):
            remote("A", function).to_here()
    assert rpc_sync("A", far.echo, [1]) == 1, "A is alive"


def test_R28_an_argument_that_cannot_be_put_together_is_refused_and_ends_no_link() -> None:
    with pytest.raises(RefusedCall, match="no hash"):
        rpc_sync("A", far.echo, [far.unhashable()])
    assert rpc_sync("A", far.echo, [1]) == 1, "A is alive"
