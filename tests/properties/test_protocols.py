"""The list of protocols, and how a backend says which one it speaks."""

import pytest

from farref.properties.protocol import AnySubject
from farref.properties.protocols import CHECKED, PROTOCOLS, protocol_of, subject_of
from farref.properties.twin.backend import MakeBackend, protocol_for
from farref.properties.twin.backends.known import BACKENDS, FREE_BACKENDS
from farref.properties.twin.backends.model import ModelBackend
from farref.properties.twin.campaign import campaign
from farref.properties.twin.machine import twin_machine
from farref.properties.twin.worlds import WORLDS


@pytest.mark.parametrize("subject", CHECKED.values(), ids=CHECKED)
def test_bounds_say_what_they_are_about(subject: AnySubject) -> None:
    everything = [subject.broadest, *(one.bounds for one in subject.portfolio)]
    everything += [claim.bounds for claim in subject.claims.values()]
    assert all(subject_of(bounds) is subject for bounds in everything)
    assert all(protocol_of(bounds) is subject for bounds in everything if subject.name in PROTOCOLS)


@pytest.mark.parametrize("protocol", CHECKED.values(), ids=CHECKED)
def test_every_property_and_claim_has_a_meaning(protocol: AnySubject) -> None:
    properties = {one.id for one in protocol.properties(protocol.broadest)}
    assert properties <= protocol.meanings.keys() <= properties | protocol.claims.keys()
    assert all(claim.text for claim in protocol.claims.values())


def test_every_protocol_has_backends_and_worlds() -> None:
    assert PROTOCOLS.keys() == BACKENDS.keys() == FREE_BACKENDS.keys() == WORLDS.keys()


@pytest.mark.parametrize(
    ("protocol", "make"),
    [
        (protocol, make)
        for kinds in (BACKENDS, FREE_BACKENDS)
        for protocol, known in kinds.items()
        for make in known.values()
        if make is not ModelBackend
    ],
)
def test_a_backend_says_which_protocol_it_speaks(protocol: str, make: MakeBackend) -> None:
    assert protocol_for(make, None) is PROTOCOLS[protocol]


def test_a_backend_of_any_protocol_has_to_be_told_which() -> None:
    asks = "does not say which protocol it speaks; say protocol='rref' or protocol='autograd'"
    with pytest.raises(ValueError, match=asks):
        campaign(ModelBackend, seed=1, schedules_max=1)
    with pytest.raises(ValueError, match=asks):
        twin_machine(lambda: ModelBackend())
    assert campaign(ModelBackend, seed=1, schedules_max=1, protocol="autograd").protocol is PROTOCOLS["autograd"]
