"""Time until a request is acknowledged, when its turns, trace and outbox row are committed.

Requests go to a real server over HTTP; each contains one exchange of a user and an assistant, with mixed users and
sessions. The floor is measured in the same run on the same database: a plain transaction of three rows.
"""

import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.caller import Caller
from benchmarks.figures import milliseconds
from benchmarks.service import Service, running_service

NAME = "ack"
WARM_UP = 200
REQUESTS = 1_000
CLIENTS = 16


def run(*, data: Path, full: bool) -> dict[str, object]:
    """Return p50_ms, p95_ms, p99_ms, rps and floor_ratio with one client, and the same under clients_16."""
    requests = REQUESTS * (5 if full else 1)
    with running_service(cluster=False) as service:
        numbers = count()
        load(service, clients=4, requests=WARM_UP, numbers=numbers)
        floor = _floor(service, transactions=requests)
        alone = load(service, clients=1, requests=requests, numbers=numbers)
        together = load(service, clients=CLIENTS, requests=requests * 2, numbers=numbers)
    return {
        **alone,
        "floor_p50_ms": floor["p50_ms"],
        "floor_ratio": round(alone["p50_ms"] / floor["p50_ms"], 2),
        f"clients_{CLIENTS}": together | {"floor_ratio": round(together["p50_ms"] / floor["p50_ms"], 2)},
    }


def load(service: Service, *, clients: int, requests: int, numbers: "count[int]") -> dict[str, float]:
    """Send requests by concurrent clients; return percentiles of their times, and requests per second."""
    times: list[float] = []
    callers = [service.caller() for _ in range(clients)]
    threads = [threading.Thread(target=_send, args=(caller, requests // clients, numbers, times)) for caller in callers]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - started
    return milliseconds(times) | {"rps": round(len(times) / elapsed, 1)}


def _send(caller: Caller, requests: int, numbers: "count[int]", times: list[float]) -> None:
    for _ in range(requests):
        body = _exchange(next(numbers))
        started = time.perf_counter()
        status, answer = caller.post("/v1/turns", body)
        times.append(time.perf_counter() - started)
        if status != 202:
            raise RuntimeError(f"answered {status}: {answer}")


def _exchange(number: int) -> dict[str, Any]:
    return {
        "user_id": f"user-{number % 50}",
        "session_id": f"session-{number % 170}",
        "turns": [
            {"role": "user", "content": f"I moved to street number {number} last month, and I like it there."},
            {"role": "assistant", "content": "That sounds lovely. How is the new place?"},
        ],
    }


def _floor(service: Service, *, transactions: int) -> dict[str, float]:
    where = service.database
    times: list[float] = []
    with psycopg.connect(host=where.host, port=where.port, user=where.user, dbname=where.name) as connection:
        for table in ("floor_trace", "floor_turn", "floor_work"):
            connection.execute(f"create table {table} (id bigserial primary key, body text)")
        connection.commit()
        for number in range(transactions):
            started = time.perf_counter()
            for table in ("floor_trace", "floor_turn", "floor_work"):
                connection.execute(f"insert into {table} (body) values (%s)", [str(number)])
            connection.commit()
            times.append(time.perf_counter() - started)
    return milliseconds(times)
