"""Whatever is done with the memories of one end user at the same time, no writer waits for another in a circle."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.memories.models import Entity, Memory
from apps.memories.services.count_accesses import Accesses
from apps.memories.services.lifecycle import archive_of
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Scope, WorkState
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.models import Project
from apps.traces.models import Trace, Turn
from tests.conftest import MakeClient
from tests.soak import is_soak
from tests.worker.worker_helper import Person

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100 if is_soak() else 10
SESSIONS = ("monday", "tuesday")
PLACES = ("Lisbon", "Porto", "Oslo", "Bergen", "Madrid", "Rome")
NAMES = ("Nora", "Eleonora", "Lena")
PATIENCE = 300  # seconds


@dataclass(frozen=True, slots=True)
class Writers:
    """What is done with one end user's memories; each method once per round, all at the same time."""

    project: Project
    client: APIClient
    seen: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)

    @property
    def ana(self) -> Person:
        return Person(self.project, "ana")

    def asks(self, method: str, path: str, body: Any = None) -> Any:
        answer = getattr(self.client, method)(path, body)
        self.seen[f"{method} {path.split('/')[2]} {answer.status_code}"] += 1
        if answer.status_code >= 500:
            self.failed.append(f"{method} {path}: {answer.content.decode()}")
        return answer

    def tells(self, chance: random.Random) -> None:
        content = f"I live in {chance.choice(PLACES)} and my sister {chance.choice(NAMES)} works at Acme."
        self.asks("post", "/v1/turns", body=_said(content, chance.choice(SESSIONS)))

    def works(self, _: random.Random) -> None:
        self.ana.is_worked_for()

    def stores(self, chance: random.Random) -> None:
        """Store values that supersede others, in several sessions, and sentences about the same people."""
        memories = [{**_lives_in("User", chance), "session_id": session} for session in SESSIONS]
        memories += [_lives_in(name, chance) for name in chance.sample(NAMES, k=2)]
        chance.shuffle(memories)
        self.asks("post", "/v1/memories", {"user_id": "ana", "memories": memories})

    def revises(self, chance: random.Random) -> None:
        if memory := self._any_memory(chance):
            content = f"User has been to {chance.choice(PLACES)} {chance.randrange(1_000)} times."
            self.asks("patch", f"/v1/memories/{memory.shown_id}", {"content": content})

    def retracts(self, chance: random.Random) -> None:
        if memory := self._any_memory(chance):
            self.asks("delete", f"/v1/memories/{memory.shown_id}")

    def merges_entities(self, chance: random.Random) -> None:
        known = list(Entity.objects.filter(end_user_id=self.ana.id, is_user=False, merged_into=None)[:20])
        if len(known) > 1:
            entity, into = chance.sample(known, k=2)
            self.asks("post", f"/v1/entities/{entity.shown_id}/merge", {"into": into.shown_id})
            self.asks("delete", f"/v1/entities/{entity.shown_id}/merge")

    def rolls_back(self, chance: random.Random) -> None:
        traces = list(Trace.objects.filter(end_user_id=self.ana.id).order_by("-id")[:5])
        if traces:
            chosen = {"trace_ids": [show(Prefix.TRACE, chance.choice(traces).id)]}
            body = {"selection": chosen, "dry_run": False, "rerun": chance.random() < 0.5}
            answer = self.asks("post", "/v1/rollbacks", body)
            if answer.status_code == 201 and chance.random() < 0.3:
                self.asks("post", f"/v1/rollbacks/{answer.json()['id']}/undo")

    def deletes_turns(self, chance: random.Random) -> None:
        turns = list(Turn.objects.filter(end_user_id=self.ana.id).order_by("-id")[:8])
        if turns:
            self.asks("delete", f"/v1/turns/{show(Prefix.TURN, chance.choice(turns).id)}")
        if chance.random() < 0.1:
            self.asks("delete", f"/v1/sessions/{chance.choice(SESSIONS)}?user_id=ana")
        self.asks("post", f"/v1/sessions/{chance.choice(SESSIONS)}/end", {"user_id": "ana"})

    def erases_another(self, _: random.Random) -> None:
        bob = Person(self.project, f"bob {uuid4()}")
        self.asks("post", "/v1/turns", body=_said("I live in Lisbon.", "monday", user=bob.name))
        bob.is_worked_for()
        self.asks("delete", f"/v1/users/{bob.name}")

    def tidies_up(self, chance: random.Random) -> None:
        archive_of(project_id=self.project.id, end_user_id=self.ana.id, now=timezone.now())
        accesses = Accesses()
        ids = list(Memory.objects.filter(end_user_id=self.ana.id).values_list("id", flat=True)[:20])
        accesses.note(end_user_id=self.ana.id, memory_ids=chance.sample(ids, k=len(ids)), at=timezone.now())
        accesses.count()

    def _any_memory(self, chance: random.Random) -> Memory | None:
        known = list(Memory.objects.filter(end_user_id=self.ana.id).live().order_by("-id")[:12])
        return chance.choice(known) if known else None


def _said(content: str, session: str, user: str = "ana") -> dict[str, Any]:
    return {"user_id": user, "session_id": session, "turns": [{"role": "user", "content": content}]}


def _lives_in(who: str, chance: random.Random) -> dict[str, Any]:
    place = chance.choice(PLACES)
    value = {"entity": {"name": place, "type": "place"}}
    return {
        "type": "fact",
        "content": f"{who} lives in {place}.",
        "subject": who if who == "User" else {"name": who, "type": "person"},
        "predicate": "lives_in",
        "object": value,
    }


def in_rounds(do: Callable[[random.Random], None], *, start: threading.Barrier, seed: int) -> None:
    """Do something in each round, from its beginning together with the others."""
    chance = random.Random(seed)
    try:
        for _ in range(ROUNDS):
            start.wait(PATIENCE)
            do(chance)
    except BaseException:
        start.abort()
        raise
    finally:
        connection.close()


def actions_of(writers: Writers) -> Iterator[Callable[[random.Random], None]]:
    yield from (writers.tells, writers.works, writers.works, writers.stores, writers.stores, writers.revises)
    yield from (writers.retracts, writers.merges_entities, writers.rolls_back, writers.deletes_turns)
    yield from (writers.erases_another, writers.tidies_up)


_OTHER_SESSIONS = """
select count(*) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
"""


def deadlocks() -> int:
    """Return how many deadlocks PostgreSQL has counted in this database; sessions tell theirs when they end."""
    deadline = time.monotonic() + PATIENCE
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_OTHER_SESSIONS)
            if not cursor.fetchone()[0]:
                break
            assert time.monotonic() < deadline, "sessions of other threads are still open"
            time.sleep(0.02)  # nothing announces that a session has ended
        cursor.execute("select pg_stat_force_next_flush(), pg_stat_clear_snapshot()")
        cursor.execute("select deadlocks from pg_stat_database where datname = current_database()")
        return int(cursor.fetchone()[0])


def test_nobody_is_a_victim_of_the_others(project: Project, client_of: MakeClient) -> None:
    client = client_of(project, *Scope)
    client.raise_request_exception = False
    writers = Writers(project, client)
    before = deadlocks()
    actions = list(actions_of(writers))
    start = threading.Barrier(len(actions))
    with ThreadPoolExecutor(len(actions)) as pool:
        done = [pool.submit(in_rounds, do, start=start, seed=seed) for seed, do in enumerate(actions)]
    for each in done:
        each.result()
    assert writers.failed == []
    assert deadlocks() == before
    assert Memory.objects.filter(end_user_id=writers.ana.id).exists()
    assert not OutboxRow.objects.filter(state=WorkState.DEAD).exists()
