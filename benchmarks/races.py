"""Behaviour under concurrency and crashes: equal messages store one memory, accepted requests take effect once.

`stored`: 16 callers send the same message of one user concurrently. `lost` and `doubled`: after requests were accepted
(202), the whole cluster is repeatedly killed with SIGKILL; every trace has to end, and every memory must exist once.
"""

import os
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.caller import Caller
from benchmarks.service import Service, running_service

NAME = "races"
AT_ONCE = 16
REQUESTS = 60
KILLS = 3
END_SECONDS = 90.0


def run(*, data: Path, full: bool) -> dict[str, object]:
    """Return `stored`, `lost` and `doubled`, and the number of requests."""
    requests = REQUESTS * (5 if full else 1)
    with running_service(cluster=True, WORK_LEASE_SECONDS="3", HEARTBEAT_SECONDS="1") as service:
        stored = _equal_messages(service)
        lost, doubled = lost_and_doubled(service, requests=requests)
    return {"stored": stored, "at_once": AT_ONCE, "lost": lost, "doubled": doubled, "requests": requests}


def _equal_messages(service: Service) -> int:
    body = _message(user="twin", session="one", content="I am allergic to peanuts.")
    barrier = threading.Barrier(AT_ONCE)
    traces: list[str] = []

    def send(caller: Caller) -> None:
        barrier.wait()
        traces.append(_accepted(caller.post("/v1/turns", body)))

    threads = [threading.Thread(target=send, args=(service.caller(),)) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _await_end(service.caller(), traces)
    return len(_memories(service.caller(), "twin"))


def lost_and_doubled(service: Service, *, requests: int, seconds: float = END_SECONDS) -> tuple[int, int]:
    """Kill the cluster of a service several times while it works; return how many traces and memories were wrong.

    A trace that has not ended within some seconds counts as lost.
    """
    caller = service.caller()
    traces = []
    for number in range(requests):
        body = _message(user=f"user-{number % 7}", session=f"s-{number}", content=f"My locker number is {number}.")
        traces.append(_accepted(caller.post("/v1/turns", body)))
        if number % (requests // KILLS) == requests // KILLS - 1:
            _kill_cluster(service)
    done = _await_end(caller, traces, seconds)
    said = Counter(
        memory["evidence"] for user in range(min(7, requests)) for memory in _memories(caller, f"user-{user}")
    )
    doubled = sum(times - 1 for times in said.values())
    return len(traces) - done, doubled


def _kill_cluster(service: Service) -> None:
    """Kill the process group of the cluster and start another cluster."""
    cluster = service.children.pop()
    os.killpg(cluster.pid, signal.SIGKILL)
    cluster.wait()
    service.start_cluster()


def _message(*, user: str, session: str, content: str) -> dict[str, Any]:
    return {"user_id": user, "session_id": session, "turns": [{"role": "user", "content": content}]}


def _accepted(reply: tuple[int, dict[str, Any]]) -> str:
    status, answer = reply
    if status != 202:
        raise RuntimeError(f"answered {status}: {answer}")
    return str(answer["trace_id"])


def _await_end(caller: Caller, traces: list[str], seconds: float = END_SECONDS) -> int:
    """Wait, with a time limit, until every trace has ended; return how many are done or rejected."""
    waiting, done = set(traces), 0
    deadline = time.monotonic() + seconds
    while waiting and time.monotonic() < deadline:
        for trace in sorted(waiting):
            status = caller.get(f"/v1/traces/{trace}")[1]["status"]
            if status not in ("queued", "running"):
                waiting.discard(trace)
                done += status in ("done", "rejected")
        time.sleep(0.2)  # poll; there is no notification when a trace ends
    return done


def _memories(caller: Caller, user: str) -> list[dict[str, Any]]:
    return list(caller.get(f"/v1/memories?user_id={user}&limit=100")[1]["results"])
