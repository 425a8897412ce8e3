"""Latency of search for end users with 1,000 to 20,000 memories, and with 100 users in the same tables.

Memories are random sentences with Zipf-distributed words, in sessions of 20, each with four vectors; the rows of 100
users are in random order, as in real use. Recall compares the result with a ranking of rows read through the ORM.
`floor_ms` is a single round trip to the same database.

The top-level figures of a scene are those that the peers were measured with: users in random order, all of them cached,
no writes. In addition: `first`, with an empty cache; `after_write`, right after a memory of the user was added or
changed with its vectors (the write is not timed); and `mixed`, where every fifth search follows a write.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from time import perf_counter
from uuid import UUID

from django.db import ProgrammingError, connection, transaction

from apps.actions.projects.create_project import create_project
from apps.memories.models import Memory, MemoryVector
from apps.memories.search import SearchQuery, search
from apps.memories.search.cache import CACHE
from apps.memories.writing.revisions import note_changes
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.providers.registry import embedder as configured_embedder
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import tenant_scope
from apps.traces.models import Session
from benchmarks.exhaustive import ranked_row_by_row
from benchmarks.figures import milliseconds
from benchmarks.filling import copy_memories, store_vectors
from benchmarks.scratch import scratch_database

NAME = "search"
TEMPLATE = 1_000
LIMIT = 10
RECALL_QUERIES = 3
SEARCHES_TO_KEEP = 2
WRITE_EVERY = 5  # searches
COPIED = ("end_user_id", "project_id", "type", "context", "session_id", "said_at", "confidence")
NOW = datetime(2030, 1, 1, tzinfo=UTC)
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvz", "aeiou"


def run(*, data: Path | None, full: bool = False) -> dict[str, object]:
    """Return p50, p95 and p99 in milliseconds and the recall of each scene; `data` is not used."""
    queries = 300 if full else 100
    embedder = configured_embedder()
    with scratch_database():
        project = create_project(name="Search", slug="search")
        template = _template(project, embedder)
        scenes = {
            "one_user_1k": [template.id],
            "one_user_10k": copy_memories(template=template, users=1, times=10),
            "one_user_20k": copy_memories(template=template, users=1, times=20),
            "users_100_rows_100k": copy_memories(template=template, users=100, times=1),
        }
        with connection.cursor() as cursor:
            with suppress(ProgrammingError):  # needs a privilege; without it dirty pages are flushed during a scene
                cursor.execute("checkpoint")
            cursor.execute("vacuum analyze memories_memory, memories_memoryvector, memories_memorychange")
        measured = {
            name: _scene(project, users, embedder, queries if "1k" in name or "users" in name else queries // 4)
            for name, users in scenes.items()
        }
        return {**measured, "floor_ms": _floor(), "embedder": embedder.name}


def _scene(project: Project, users: Sequence[UUID], embedder: Embedder, number: int) -> dict[str, object]:
    """Measure a scene in all variants; `mixed` is twice as long, because few of its searches follow a write."""
    chance = random.Random(11)
    asked = [f"what about {_sentence(chance, words=6)}?" for _ in range(number * 2)]
    scene = Scene(project_id=project.pk, users=users, embedder=embedder, asked=asked)
    first = scene.timed(number, before=lambda _, __: CACHE.clear())
    for user in [*users] * SEARCHES_TO_KEEP:
        scene.found(user, scene.asked[0])
    kept = scene.timed(number)
    after_write = scene.timed(number, before=scene.write)
    mixed = scene.timed(
        number * 2, before=lambda user, place: None if place % WRITE_EVERY else scene.write(user, place)
    )
    return {**kept, "first": first, "after_write": after_write, "mixed": mixed}


@dataclass(frozen=True)
class Scene:
    """End users that are searched in random order, and the memories that are written in between."""

    project_id: UUID
    users: Sequence[UUID]
    embedder: Embedder
    asked: Sequence[str]
    chance: random.Random = field(default_factory=lambda: random.Random(5))

    def timed(self, number: int, *, before: Callable[[UUID, int], None] = lambda _, __: None) -> dict[str, float]:
        """Time a number of searches, and compare the last few with the reference search."""
        times, recalls = [], []
        for place, text in enumerate(self.asked[:number]):
            user = self.chance.choice(self.users)
            before(user, place)
            started = perf_counter()
            found = self.found(user, text)
            times.append(perf_counter() - started)
            if place % (number // RECALL_QUERIES) == 0:
                wanted = set(ranked_row_by_row(user=user, text=text, embedder=self.embedder, now=NOW, limit=LIMIT))
                recalls.append(len(wanted.intersection(found)) / len(wanted))
        return {**milliseconds(times), "recall": round(mean(recalls), 4)}

    def found(self, user: UUID, text: str) -> list[UUID]:
        """Return the hits of a search."""
        query, policy = SearchQuery(text=text, limit=LIMIT), RetrievalPolicy()
        with tenant_scope(project_id=self.project_id, end_user_id=user):
            hits = search(end_user_id=user, query=query, embedder=self.embedder, policy=policy, now=NOW)
        return [hit.memory.id for hit in hits]

    def write(self, user: UUID, place: int) -> None:
        """Alternately add or change a memory, with its vectors."""
        one = Memory.objects.for_end_user(user)[self.chance.randrange(100)]
        with transaction.atomic():
            if place % 2:
                MemoryVector.objects.filter(end_user_id=user, memory=one).delete()
            else:
                one = Memory(id=new_id(), **{name: getattr(one, name) for name in COPIED}, canonical_hash=new_id().hex)
            one.content = _sentence(self.chance, words=12)
            one.save()
            store_vectors([one], embedder=self.embedder)
            note_changes(end_user_id=user, memory_ids=[one.id])


def _floor() -> float:
    times = []
    for _ in range(100):
        started = perf_counter()
        with connection.cursor() as cursor:
            cursor.execute("select 1")
        times.append(perf_counter() - started)
    return milliseconds(times)["p50_ms"]


def _word(number: int) -> str:
    """Return the artificial word of this rank."""
    syllables = []
    number += 100
    while number:
        number, place = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        syllables.append(_CONSONANTS[place % len(_CONSONANTS)] + _VOWELS[place // len(_CONSONANTS)])
    return "".join(syllables)


def _sentence(chance: random.Random, *, words: int) -> str:
    """Draw from 5,000 words with a Zipf distribution."""
    return " ".join(_word(int(5_000 ** chance.random())) for _ in range(words))


def _template(project: Project, embedder: Embedder) -> EndUser:
    """Create an end user with 1,000 memories in sessions of 20, with their vectors."""
    chance = random.Random(7)
    user = EndUser.objects.create(
        id=end_user_id(project_id=project.id, user_id="template"), project=project, external_id="template"
    )
    sessions = [
        Session(
            id=session_id(end_user_id=user.id, session_id=str(number)),
            end_user=user,
            project=project,
            external_id=str(number),
        )
        for number in range(TEMPLATE // 20)
    ]
    Session.objects.bulk_create(sessions)
    memories = [
        Memory(
            end_user=user,
            project=project,
            type=MemoryType.FACT,
            content=_sentence(chance, words=12),
            context=_sentence(chance, words=30),
            canonical_hash=new_id().hex,
            session=sessions[number // 20],
            said_at=NOW - timedelta(hours=TEMPLATE - number),
            confidence=0.9,
        )
        for number in range(TEMPLATE)
    ]
    Memory.objects.bulk_create(memories, batch_size=500)
    store_vectors(memories, embedder=embedder)
    return user
