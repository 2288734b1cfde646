"""One program in three places: on this machine, by hand on several, and on Ray. Every worker counts words, and all agree.

    python -m examples.anywhere launch                  workers of this machine
    python -m examples.anywhere ray                     actors of a Ray cluster: pip install '.[ray]'
    python -m examples.anywhere tcp 0 3 HOST:29500      by hand, rank 0 of 3, on HOST
    python -m examples.anywhere tcp 1 3 HOST:29500      in another terminal, or on another machine; and so on

By hand every process needs the same `FARREF_KEY` in its environment. Only what is around `count_words` differs.
"""

from __future__ import annotations

import sys
from collections import Counter

from farref.impl import Settings, collect_all, function, init_rpc, launch, remote, rpc_async, shutdown

TEXT = "a worker that was lost comes back and a world goes on with a worker more or less"
MODULE = "examples.anywhere"


@function
def counted(words: list[str]) -> dict[str, int]:
    """Count some words, on a worker."""
    return dict(Counter(words))


@function
def held(words: list[str]) -> list[str]:
    """Keep some words, on a worker."""
    return words


def count_words(workers: list[str]) -> None:
    """Leave a part of the text with each worker, have it counted there, and add up."""
    from examples.anywhere import counted, held  # by the name that every process knows them by

    parts = [TEXT.split()[number :: len(workers)] for number in range(len(workers))]
    kept = [remote(worker, held, [part]) for worker, part in zip(workers, parts, strict=True)]
    counts = collect_all([rpc_async(rref.owner(), counted, [rref.to_here()]) for rref in kept]).wait()
    total: Counter[str] = sum((Counter(one.wait()) for one in counts), Counter())
    print(f"{len(workers)} workers counted {total.total()} words; 'a' {total['a']} times")


def by_hand(rank: int, size: int, place: str) -> None:
    """Be one of the processes that somebody starts by hand. Rank 0 counts, and the others serve until it leaves."""
    name = "driver" if rank == 0 else f"worker{rank}"
    settings = Settings(allowed_modules=(MODULE,))
    init_rpc(name, rank=rank, world_size=size, init_method=f"tcp://{place}", settings=settings)
    if rank == 0:
        count_words([f"worker{other}" for other in range(1, size)])
    shutdown(timeout=0)


def on_this_machine() -> None:
    """Start two workers here."""
    with launch(2, allow=[MODULE]) as world:
        count_words(list(world.names))


def on_ray_actors() -> None:
    """Start two workers as actors."""
    import ray

    from farref.impl.ray_actors import on_ray

    ray.init(log_to_driver=False)
    with on_ray(2, allow=[MODULE]) as actors:
        count_words(list(actors))
    ray.shutdown()


def main(words: list[str]) -> int:
    """Read the command line."""
    match words:
        case ["launch"]:
            on_this_machine()
        case ["ray"]:
            on_ray_actors()
        case ["tcp", rank, size, place] if rank.isdecimal() and size.isdecimal():
            by_hand(int(rank), int(size), place)
        case _:
            print("python -m examples.anywhere launch | ray | tcp RANK SIZE HOST:PORT", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
