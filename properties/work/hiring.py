"""Who does the work: this process, several, or a cluster."""

from __future__ import annotations

from farref.properties.work.cluster import Cluster
from farref.properties.work.pool import ProcessPool
from farref.properties.work.units import Here, Workers


def hire(jobs: int = 1, cluster: str | None = None) -> Workers:
    """Give whoever was asked for; they are let go at the end of a `with`."""
    if cluster is not None:
        return Cluster(cluster)
    return Here() if jobs == 1 else ProcessPool(jobs)
