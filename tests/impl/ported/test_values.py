"""Values of classes travel by name, to a worker that allows the class; nothing of them runs there."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.msgpack import Ext

from farref.impl import Cluster, RefusedCall, RefusedValue, RRef, launch, remote, rpc_sync
from farref.impl.autograd import backward, context, get_gradients
from farref.impl.errors import WireError
from farref.impl.functions import Functions
from farref.impl.tape import tensor
from farref.impl.values.codec import Reader, Writer
from tests.impl.far import named as far
from tests.impl.far import references, registered

ALLOWED = [far.__name__, references.__name__]
VALUES: list[Any] = [
    bytearray(b"bytes"),
    {1, "two"},
    frozenset({(1, 2)}),
    far.Job("a", [1, (2, far.Place(1, 2))]),
    far.Place(1, -2),
    far.Color.RED,
    far.Color.BLUE,
    far.Level.HIGH,
    far.Rights.READ | far.Rights.RUN,
    far.Rights(0),
    far.Point(1.0, 2.0),
    far.Pair([1], {"a": far.Color.RED}),
    {far.Color.RED: {far.Place(1, 2): far.Level.LOW}},
    far.echo,
    far.Place,
]
each_owner = pytest.mark.parametrize("owner", ["A", "driver"])


@pytest.fixture(scope="module")
def world() -> Iterator[Cluster]:
    with launch(["A"], allow=ALLOWED, rpc_timeout=20) as cluster:
        yield cluster


@pytest.mark.usefixtures("settled")
@each_owner
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_goes_there_and_back_and_keeps_its_type(owner: str, value: Any) -> None:
    for back in (rpc_sync(owner, far.echo, [value]), remote(owner, far.echo, [value]).to_here()):
        assert back == value
        assert type(back) is type(value)


@pytest.mark.usefixtures("settled")
@each_owner
def test_no_constructor_runs_where_a_dataclass_arrives(owner: str) -> None:
    before = list(rpc_sync(owner, far.made))
    job = far.Job("sent", [1, 2])
    assert rpc_sync(owner, far.echo, [job]).size == 2
    assert rpc_sync(owner, far.made) == [*before, *(["sent"] if owner == "driver" else [])]


@pytest.mark.usefixtures("settled")
def test_references_and_large_arrays_travel_in_a_dataclass() -> None:
    job = far.Job("with parts", [RRef(3), np.arange(100_000.0), np.arange(3.0)])
    back = rpc_sync("A", far.echo, [job])
    assert back.parts[0].to_here() == 3
    np.testing.assert_array_equal(back.parts[1], job.parts[1])


@pytest.mark.usefixtures("settled")
@each_owner
def test_a_gradient_goes_through_a_dataclass(owner: str) -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    with context() as context_id:
        back = rpc_sync(owner, far.scaled, [far.Batch(x, 3.0)])
        backward(context_id, [back.inputs.sum()])
        assert get_gradients(context_id)[x].data.tolist() == [3.0, 3.0]


@pytest.mark.usefixtures("settled")
def test_a_function_is_a_value_where_it_may_be_called() -> None:
    assert rpc_sync("A", far.apply, [far.echo, 3]) == 3
    assert rpc_sync("A", far.apply, [far.Place, 1, 2]) == far.Place(1, 2)
    with pytest.raises(RefusedCall, match="operator:add is not registered on A"):
        rpc_sync("A", far.apply, [operator.add, 1, 2])
    with pytest.raises(RefusedValue, match=r"function cannot travel: .* has no name"):
        rpc_sync("A", far.apply, [lambda: 3])


@pytest.mark.usefixtures("settled")
def test_a_class_that_the_receiver_does_not_allow_is_refused_and_told_what_to_do() -> None:
    with pytest.raises(RefusedCall, match=r"Adder cannot be read: .* is not registered on A.*@function.*allow=\["):
        rpc_sync("A", far.echo, [registered.Adder])
    assert rpc_sync("A", far.echo, [1]) == 1


@pytest.mark.usefixtures("settled")
def test_what_cannot_be_found_or_put_together_is_refused() -> None:
    with pytest.raises(RefusedValue, match=r"Local cannot travel: .*Local'> has no name"):
        rpc_sync("A", far.echo, [far.Hidden.make()])
    with pytest.raises(RefusedValue, match="Undecorated cannot travel"):
        rpc_sync("A", far.echo, [far.Undecorated(1, 2)])
    with pytest.raises(RefusedCall, match="Odd cannot be read: TypeError"):
        rpc_sync("A", far.echo, [far.Odd()])


# What a peer may write


def nothing(_: object) -> None:
    return None


def read(body: bytes) -> object:
    reader = Reader(nothing)
    reader.resolve = Functions([far.__name__]).resolve
    return reader.read(body)


def named(code: int, *parts: object) -> bytes:
    return msgspec.msgpack.encode(Ext(16, msgspec.msgpack.encode(Ext(code, msgspec.msgpack.encode(list(parts))))))


PLACE, COLOR, POINT = (f"{far.__name__}:{name}" for name in ("Place", "Color", "Point"))


def test_what_is_well_written_is_read() -> None:
    assert read(named(17, PLACE, {"x": 1, "y": 2})) == far.Place(1, 2)
    assert read(named(18, COLOR, ["RED"])) is far.Color.RED
    assert read(named(19, POINT, [1.0, 2.0])) == far.Point(1.0, 2.0)
    assert read(named(20, PLACE, [])) is far.Place


@pytest.mark.parametrize(
    "body",
    [
        named(17, PLACE, {"x": 1}),
        named(17, PLACE, {"x": 1, "y": 2, "z": 3}),
        named(17, PLACE, [1, 2]),
        named(17, COLOR, {}),
        named(17, f"{far.__name__}:echo", {}),
        named(18, COLOR, ["GREEN"]),
        named(18, COLOR, ["RED", "BLUE"]),
        named(18, COLOR, []),
        named(18, COLOR, [["RED"]]),
        named(18, PLACE, ["x"]),
        named(19, POINT, [1.0]),
        named(19, PLACE, [1, 2]),
        named(20, "os:system", []),
        named(20, f"{far.__name__}:Tensor", []),
        named(17, 3, {}),
        named(17, PLACE),
        named(17),
    ],
)
def test_what_is_not_is_refused(body: bytes) -> None:
    with pytest.raises(WireError):
        read(body)


def test_outside_of_an_envelope_no_name_is_looked_up() -> None:
    inside = msgspec.msgpack.decode(named(17, PLACE, {"x": 1, "y": 2})).data
    for body in (bytes(inside), named(17, PLACE, {"x": 1, "y": 2})):
        with pytest.raises(WireError, match=r"no value has the code 1[67]"):
            Reader(nothing).read(body)
    assert Writer(nothing).write(far.Place(1, 2)) == named(17, PLACE, {"x": 1, "y": 2})
