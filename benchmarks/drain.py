"""Throughput of queued work with a slow model, and cost of a turn with a fast one.

One turn is one exchange between the two people of a LoCoMo conversation: the message of one, and the reply of the other
as context. 32 users have 20 turns each, all queued before the measurement starts. The work of a user runs in order.

The measurement starts when every thread of every worker has processed a few turns; the queue is held back until then.

- At 420 ms, each exchange is its own session, so that no calls are shared: 32 users and 420 ms allow 76 turns/s.
- Backlog: the same with one session per user, whose queued turns may share a call.
- At 0 ms: CPU time of application and database, and SQL statements as logged by the database.
"""

import json
import re
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, LiteralString

import psycopg

from benchmarks.locomo_data import Conversation, LocomoTurn, load
from benchmarks.service import Service, running_service

NAME = "drain"
USERS = 32
TURNS = 20
DELAY_MS = 420
WARM_UP = 3 * USERS  # enough that every thread of every worker gets a turn
END_SECONDS = 300.0
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
# A statement may begin on the line after its log prefix.
_LOGGED = re.compile(r"LOG:  (?:statement|execute [^:]+): ?(.*)")
# Control of transactions, the scope of each (sent with its first statement), and the benchmark's own polling.
_SCOPE = ("begin; set local role", "select set_config(")
_NOT_COUNTED = (
    *_SCOPE,
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "RELEASE",
    "DEALLOCATE",
    "select count(*) from outbox_",
)
Exchange = tuple[LocomoTurn, LocomoTurn]


def run(*, data: Path, full: bool) -> dict[str, object]:
    """Return turns per second and the cost per turn. Raises FileNotFoundError if LoCoMo is missing."""
    exchanges = [exchange for conversation in load(data) for exchange in _exchanges(conversation)]
    turns = TURNS * (3 if full else 1)
    slow = _drain(exchanges, turns=turns, delay_ms=DELAY_MS, sessions=turns)
    backlog = _drain(exchanges, turns=turns, delay_ms=DELAY_MS, sessions=1)
    quick = _drain(exchanges, turns=turns, delay_ms=0, sessions=turns)
    counted = _drain(exchanges, turns=turns, delay_ms=0, sessions=turns, count_statements=True)
    ideal = USERS / (DELAY_MS / 1_000)
    return {
        "turns_per_s": slow["turns_per_s"],
        "ideal_ratio": round(slow["turns_per_s"] / ideal, 3),
        "calls_per_turn": slow["calls_per_turn"],
        "tokens_per_turn": slow["tokens_per_turn"],
        "uncached_tokens_per_turn": slow["uncached_tokens_per_turn"],
        "backlog_turns_per_s": backlog["turns_per_s"],
        "backlog_calls_per_turn": backlog["calls_per_turn"],
        "turns_per_s_0ms": quick["turns_per_s"],
        "cpu_ms_per_turn": quick["cpu_ms_per_turn"],
        "sql_per_turn": counted["sql_per_turn"],
    }


def _exchanges(conversation: Conversation) -> Iterator[Exchange]:
    """Pair each turn with the reply of the other person, within a session."""
    for said, answer in zip(conversation.turns[::2], conversation.turns[1::2], strict=False):
        if said.session == answer.session and said.speaker != answer.speaker:
            yield said, answer


def _drain(
    exchanges: list[Exchange], *, turns: int, delay_ms: int, sessions: int, count_statements: bool = False
) -> dict[str, float]:
    with (
        running_service(cluster=False, MODEL="anthropic:claude-haiku-4-5", ANTHROPIC_API_KEY="none") as service,
        _model(service, delay_ms=delay_ms) as model,
    ):
        if count_statements:
            _execute(service, "alter system set log_statement = 'all'", "select pg_reload_conf()")
        _queue(service, exchanges, turns=turns, sessions=sessions)
        _execute(service, "update outbox_userlease set ready_at = null")
        service.start(sys.executable, "manage.py", "qcluster")
        _warm_up(service, exchanges)
        before, asked_before = service.cpu_seconds(), _stats(model)
        logged = _statements(service) if count_statements else 0
        _execute(service, "update outbox_userlease set ready_at = now() where ready_at is null")
        elapsed = _await_end(service)
        asked = {name: count - asked_before.get(name, 0) for name, count in _stats(model).items()}
        total = USERS * turns
        read = asked.get("input_tokens", 0) + asked.get("cache_write_tokens", 0)
        return {
            "turns_per_s": round(total / elapsed, 1),
            "calls_per_turn": round(asked.get("calls", 0) / total, 3),
            "tokens_per_turn": round((read + asked.get("cache_read_tokens", 0)) / total, 1),
            "uncached_tokens_per_turn": round(read / total, 1),
            "cpu_ms_per_turn": round((service.cpu_seconds() - before) / total * 1_000, 2),
            "sql_per_turn": round((_statements(service) - logged) / total, 1) if count_statements else 0.0,
        }


@contextmanager
def _model(service: Service, *, delay_ms: int) -> Iterator[str]:
    """Run a model server with this latency, configure the service to use it, and yield its address."""
    server = service.start(sys.executable, "-m", "benchmarks.model_server", "--delay-ms", str(delay_ms))
    deadline = time.monotonic() + 30
    address = ""
    while not address and time.monotonic() < deadline:
        lines = (service.folder / "output.log").read_text().splitlines()
        address = next((line for line in lines if line.startswith("http://127.0.0.1:")), "")
        time.sleep(0.05)  # until the server prints its address
    service.environment = {**service.environment, "ANTHROPIC_BASE_URL": address}
    service.children.remove(server)  # its CPU time does not count
    try:
        yield address
    finally:
        server.terminate()
        server.wait()


def _queue(service: Service, exchanges: list[Exchange], *, turns: int, sessions: int) -> None:
    """Post every exchange, before any worker runs."""
    caller = service.caller()
    given = iter(exchanges * (1 + USERS * turns // len(exchanges)))
    for user in range(USERS):
        for number, (said, answer) in enumerate(islice(given, turns)):
            body = _body(user=f"user-{user}", session=f"s-{number % sessions}", said=said, answer=answer)
            status, refused = caller.post("/v1/turns", body)
            if status != 202:
                raise RuntimeError(f"answered {status}: {refused}")


def _body(*, user: str, session: str, said: LocomoTurn, answer: LocomoTurn) -> dict[str, Any]:
    turns = [
        {"role": "user", "content": said.text, "speaker": said.speaker},
        {"role": "assistant", "content": answer.text},
    ]
    return {"user_id": user, "session_id": session, "turns": [turn for turn in turns if turn["content"].strip()]}


def _warm_up(service: Service, exchanges: list[Exchange]) -> None:
    """Warm up every worker with turns of other end users."""
    caller = service.caller()
    for number, (said, answer) in enumerate(exchanges[:WARM_UP]):
        caller.post("/v1/turns", _body(user=f"warm-{number}", session="s", said=said, answer=answer))
    _await(service, "select count(*) from outbox_userlease where ready_at is not null")


def _await_end(service: Service) -> float:
    """Return the seconds until the last trace has ended."""
    started = time.monotonic()
    _await(
        service,
        "select count(*) from outbox_outboxrow where kind = 'run_pipeline' and state in ('pending', 'running')",
    )
    return time.monotonic() - started


def _await(service: Service, counting: LiteralString) -> None:
    """Wait until a count is zero."""
    deadline = time.monotonic() + END_SECONDS
    with _connected(service) as connection:
        while (row := connection.execute(counting).fetchone()) and row[0]:
            if time.monotonic() > deadline:
                raise TimeoutError(f"not done: {(service.folder / 'output.log').read_text()[-2_000:]}")
            time.sleep(0.02)  # poll; the database sends no notification


@contextmanager
def _connected(service: Service) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    where = service.database
    with psycopg.connect(
        host=where.host, port=where.port, user=where.user, dbname=where.name, autocommit=True
    ) as connection:
        yield connection


def _execute(service: Service, *statements: LiteralString) -> None:
    with _connected(service) as connection:
        for statement in statements:
            connection.execute(statement)


def _stats(address: str) -> Mapping[str, int]:
    with _NO_PROXY(f"{address}/stats", timeout=10) as answer:
        stats: Mapping[str, int] = json.loads(answer.read())
    return stats


def _statements(service: Service) -> int:
    """Count the logged statements, without control of transactions, their scope and the benchmark's own queries."""
    log = (service.folder / "postgresql").resolve() / "server.log"
    statements = _LOGGED.findall(log.read_text(errors="replace"))
    return sum(not statement.startswith(_NOT_COUNTED) for statement in statements)
