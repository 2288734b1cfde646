"""Workers agree on the secret of their world, whatever their processes are called."""

from __future__ import annotations

import threading
from pathlib import Path

from farref.impl.transport.mesh import agree_on_secret

WORKERS, MEETINGS = 8, 60


def meet(directory: Path, together: threading.Barrier, found: list[tuple[bytes, bytes]]) -> None:
    together.wait()
    found.append(agree_on_secret(directory))


def test_workers_with_the_same_process_id_agree_on_one_secret(tmp_path: Path) -> None:
    """In containers process ids are equal; here all are threads of one process."""
    for meeting in range(MEETINGS):
        directory, found = tmp_path / str(meeting), list[tuple[bytes, bytes]]()
        directory.mkdir(mode=0o700)
        together = threading.Barrier(WORKERS)
        threads = [threading.Thread(target=meet, args=(directory, together, found)) for _ in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == WORKERS
        assert len(set(found)) == 1
        assert [path.name for path in directory.iterdir()] == ["secret"]
