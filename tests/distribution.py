"""Which tests a worker of pytest-xdist runs together, and in which order the groups start.

A group is a file, because the tests of a file share fixtures. Three groups span files: the chaos tests of one running
cluster, the journeys of one server, and the browser tests of one Chromium. Tests that start processes come first: they
wait more than they compute, so the others fill the gaps. Other files that take long follow, so that none is left for
the end.
"""

from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

PROJECT = Path(__file__).resolve().parents[1]
CHAOS_CLUSTER = tuple(
    f"tests/chaos/test_{name}.py" for name in ("kills", "clocks_and_hosts", "idle_workers", "webhooks")
)
SERVER = tuple(f"tests/journeys/test_{name}.py" for name in ("clients", "frameworks", "locomo", "mem0_clients"))
BROWSER = "tests/console/browser/"
LONG = ("tests/api/test_openapi_document.py", "tests/test_who_may_call.py", "tests/api/test_hostile_texts.py")
STARTED_FIRST = (*CHAOS_CLUSTER, BROWSER, *SERVER, "tests/memplatform/", "tests/journeys/", "tests/chaos/", *LONG)


class Distribution(LoadFileScheduling):
    """Distribute groups of tests instead of single tests."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", 1)[0]
        if path in CHAOS_CLUSTER:
            return "chaos-cluster"
        if path in SERVER:
            return "server"
        return "browser" if path.startswith(BROWSER) else path


def order(items: list[pytest.Item]) -> None:
    """Move tests that take long to the front; the others keep their order."""
    items.sort(key=lambda item: _rank(item.path.relative_to(PROJECT).as_posix()))


def _rank(path: str) -> int:
    return next((rank for rank, start in enumerate(STARTED_FIRST) if path.startswith(start)), len(STARTED_FIRST))
