"""Time to erase an end user of 100,000 rows, during requests of other end users.

The rows are among those of other end users in all tables that turns fill. `longest_lock_ms` is the longest transaction
of the erasure: no row is locked for longer.
"""

import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from django.db import connection

from apps.intake.accept import Submission, accept
from apps.memories.models import Memory
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType, Role
from apps.pipeline.core.turn import NewTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.privacy.users import USER_TABLES, UserTable, erase_user, run_batch
from apps.projects.services import create_project
from apps.providers import registry
from apps.tenants.models import EndUser, Erasure, Project
from benchmarks.figures import milliseconds
from benchmarks.filling import copy_memories, store_vectors
from benchmarks.scratch import scratch_database

NAME = "erase"
ROWS = 100_000
OTHERS = 4  # end users with as many rows
TEMPLATES = 100  # memories that are copied
SPANS = 4  # per trace

# Per memory a session's turn with its trace, spans and model call, and the origin of the memory.
_TRACES = """
create temporary table filled on commit drop as
    select memory.id as memory, memory.end_user_id as end_user, gen_random_uuid() as trace, gen_random_uuid() as turn
    from memories_memory memory where memory.end_user_id = any(%(users)s);
insert into traces_session (id, end_user_id, project_id, external_id, turn_count, summarised_until, started_at,
                            last_turn_at)
    select id, id, %(project)s, 'filled', 0, 0, now(), now() from unnest(%(users)s::uuid[]) id;
insert into traces_trace (id, end_user_id, project_id, session_id, configuration_id, status, topic, metadata, counts,
                          outcomes, plan, error, created_at, finished_at)
    select trace, end_user, %(project)s, end_user, %(configuration)s, 'done', '', '{}', '{}', '[]', '[]', '', now(),
           now() from filled;
insert into traces_turn (id, end_user_id, session_id, trace_id, position, external_id, role, speaker, content,
                         received_at, rejected_for, rejected_by)
    select turn, end_user, end_user, trace, row_number() over (partition by end_user), '', 'user', '',
           'I live in a place.', now(), '', '' from filled;
insert into traces_span (id, end_user_id, trace_id, position, stage, result, reason, latency_us, details, created_at)
    select gen_random_uuid(), end_user, trace, number, 'extract', 'pass', '', 1, '{}', now()
    from filled, generate_series(1, %(spans)s) number;
insert into traces_modelcall (id, end_user_id, trace_id, purpose, request_hash, model, prompt_version, answer,
                              input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, latency_us, cost_usd,
                              error, answer_kind, invalid_objects, created_at)
    select gen_random_uuid(), end_user, trace, 'extract', '', '', '', '', 0, 0, 0, 0, 0, 0, '', '', 0, now()
    from filled;
insert into memories_memoryorigin (id, end_user_id, memory_id, trace_id, session_id, turn_id, role, evidence, said_at,
                                   created_at)
    select gen_random_uuid(), end_user, memory, trace, end_user, turn, 'user', '', now(), now() from filled
"""
_PER_MEMORY = 3 + SPANS + 4  # memory, vector, change; spans; trace, turn, model call, origin


def run(*, data: Path, full: bool) -> dict[str, object]:
    """Return rows, seconds, rows_per_s, longest_lock_ms, and the latencies of the concurrent requests."""
    rows = ROWS * (5 if full else 1)
    with scratch_database():
        project = create_project(name="Bench", slug="bench")
        user = _fill(project, rows)
        with _Requests(project) as requests:
            seconds, batches = _erase(project, user)
        erasure = Erasure.objects.get(project=project)
        assert erasure.finished_at is not None
        connection.close()
    deleted = sum(erasure.counts.values())
    return {
        "rows": deleted,
        "seconds": round(seconds, 2),
        "rows_per_s": round(deleted / seconds),
        "longest_lock_ms": round(max(batches) * 1_000, 1),
        "accept": milliseconds(requests.times) | {"requests": len(requests.times)},
    }


def _fill(project: Project, rows: int) -> EndUser:
    template = _template(project)
    users = copy_memories(template=template, users=1 + OTHERS, times=rows // _PER_MEMORY // TEMPLATES + 1)
    values: dict[str, Any] = {
        "users": users,
        "project": project.id,
        "configuration": project.configurations.get().id,
        "spans": SPANS,
    }
    with connection.cursor() as cursor:
        for statement in f"begin; {_TRACES}; commit; analyze".split(";"):
            cursor.execute(statement, values if "%(" in statement else None)
    return EndUser.objects.get(id=users[0])


def _template(project: Project) -> EndUser:
    said = tuple(
        NewMemory(type=MemoryType.FACT, content=f"Ana has visited town number {number}.") for number in range(TEMPLATES)
    )
    store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id="template", memories=said))
    store_vectors(list(Memory.objects.select_related("subject")), embedder=registry.embedder())
    return EndUser.objects.get(external_id="template")


def _erase(project: Project, user: EndUser) -> tuple[float, list[float]]:
    """Erase the user; return the seconds that it took, and those of each transaction."""
    started = time.perf_counter()
    erasure = erase_user(project_id=project.id, user_id=user.external_id, wait=timedelta(0))
    batches: list[float] = []
    tables: Sequence[UserTable] = USER_TABLES
    while not Erasure.objects.filter(id=erasure.id, finished_at__isnull=False).exists():
        begun = time.perf_counter()
        tables = run_batch(erasure.id, tables)
        batches.append(time.perf_counter() - begun)
    seconds = time.perf_counter() - started
    left = {table.name: table.model._default_manager.filter(end_user_id=user.id).count() for table in USER_TABLES}
    if any(left.values()):
        raise RuntimeError(f"not everything was erased: {left}")
    return seconds, batches


class _Requests:
    """Requests of other end users, one after the other in a thread of their own, while the block runs."""

    def __init__(self, project: Project) -> None:
        self.times: list[float] = []
        self._project = project
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self) -> "_Requests":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _send(self) -> None:
        for number in count():
            if self._stop.is_set():
                break
            turn = NewTurn(role=Role.USER, content=f"I moved to street number {number} last month.")
            submission = Submission(self._project.id, None, f"user-{number % 50}", f"session-{number % 170}", (turn,))
            started = time.perf_counter()
            accept(submission=submission)
            self.times.append(time.perf_counter() - started)
        connection.close()
