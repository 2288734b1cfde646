"""All that makes a simulated implementation behave as it does, in a few bytes.

Numbers, marks, counts and queues are in it, which an observation leaves out. Names of flights and of waiting code are not, as
nothing depends on them. Two simulations with one fingerprint go on alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from farref.impl.core.core import Core
from farref.impl.core.observe import observe
from farref.properties.twin.backends.rref.simulated import SimulatedBackend


def fingerprint(backend: SimulatedBackend) -> bytes:
    """Digest everything that a backend has inside."""
    network, failed = backend.network, backend.lockstep.traffic.failed
    flights = ((one.source, one.target, one.message, one.id in failed) for one in network.in_flight())
    cores = [list(_inside(core)) for core in network.cores.values()]
    return blake2b(repr((cores, sorted(map(repr, flights)))).encode(), digest_size=16).digest()


def _inside(core: Core) -> Iterator[object]:
    yield observe(core)
    yield core.here.closing
    yield core.here.minted
    yield sorted((one.run.source, sorted(one.waiting_for)) for one in core.parking.all())
    for peer, sending in sorted(core.channel.outgoing.items()):
        yield peer, sending.last, len(sending.queued)
    for peer, receiving in sorted(core.channel.incoming.items()):
        yield peer, receiving.incarnation, receiving.mark, sorted(receiving.processed)
