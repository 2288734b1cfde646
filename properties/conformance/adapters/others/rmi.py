"""Java RMI: each worker is a JVM that runs `RmiWorker.java`; references are stubs, and a value lives as long as its leases."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from farref.properties.conformance.adapters.desk import DECLARED
from farref.properties.conformance.adapters.routed import RoutedAdapter

LEASE_S: Final = 4.0
"""Ten minutes is Java's own choice; then nobody could wait for a dead worker's lease to end."""
SMALL: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx96m", "-Djava.rmi.server.hostname=127.0.0.1")


class Adapter(RoutedAdapter):
    """Java RMI as it comes, with short leases."""

    name = "Java RMI"
    capabilities = DECLARED - {"function.heirloom"} | {"reclaims", "silence"}

    def __init__(self) -> None:
        super().__init__()
        said = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
        self.version = said.split('"')[1]
        self.classes = tempfile.mkdtemp(prefix="classes-")
        subprocess.run(["javac", "-d", self.classes, str(Path(__file__).with_name("RmiWorker.java"))], check=True)

    def command(self, _worker: str, options: Mapping[str, Any]) -> Sequence[str]:
        """Start a JVM with leases as long as a worker may be silent."""
        lease = int(1000 * options.get("silence", LEASE_S))
        leases = (f"-Djava.rmi.dgc.leaseValue={lease}", f"-Dsun.rmi.dgc.checkInterval={lease // 2}")
        return "java", *SMALL, *leases, "-cp", self.classes, "RmiWorker"
