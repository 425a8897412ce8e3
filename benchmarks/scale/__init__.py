"""A million memories of ten thousand end users, one of whom has a hundred thousand: does the product hold them?

Ten recorded conversations are posted and worked off by the product, and everything that it wrote is copied to other end
users (`copies.py`), so that the tables hold what they hold after 90 days of use. Without `--full` it is a twentieth.
Latencies are those of actions and pages within one process; `ack` is measured over HTTP.
"""

from pathlib import Path
from time import perf_counter

from apps.memories.models import Memory
from benchmarks.scale.deleting import delete
from benchmarks.scale.filling import FULL, SMALL, Size, bytes_per_turn, fill
from benchmarks.scale.reading import read
from benchmarks.scale.working import work
from benchmarks.scratch import scratch_database

NAME = "scale"


def run(*, data: Path | None = None, full: bool = False) -> dict[str, object]:
    """Return how much was filled, latencies, what the workers lost or did twice, and how long deletions take."""
    return measure(FULL if full else SMALL)


def measure(size: Size) -> dict[str, object]:
    """Fill a scratch database and measure everything in it."""
    with scratch_database():
        started = perf_counter()
        filled = fill(size)
        seconds = perf_counter() - started
        return {
            "rows": Memory.objects.count(),
            "users": len(filled.users),
            "filled_in_s": round(seconds, 1),
            "bytes_per_turn": round(bytes_per_turn(filled.originals)),
            **read(filled, searches=size.searches),
            **work(requests=size.requests),
            **delete(filled, traces=size.traces),
        }
