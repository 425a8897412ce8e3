"""Latency of search and context for end users with 1,000 and 100,000 memories, and for 100 users in the same tables.

Memories are random sentences with Zipf-distributed words, in sessions of 20, each with four vectors; the rows of 100
users are in random order, as in real use. `recall` is the share of the hits that a comparison of all memories finds.
`floor_ms` is a single round trip to the same database.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import mean
from time import perf_counter
from unittest.mock import patch
from uuid import UUID

from django.db import ProgrammingError, connection

from apps.memories.models import Memory
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.projects.services import create_project
from apps.providers.registry import embedder as configured_embedder
from apps.retrieval import candidates
from apps.retrieval.block import ContextBlock
from apps.retrieval.context import build_block
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import Ranking, ranked
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import tenant_scope
from apps.traces.models import Session
from benchmarks.figures import milliseconds
from benchmarks.filling import copy_memories, store_vectors
from benchmarks.scratch import scratch_database

NAME = "search"
TEMPLATE = 1_000
LIMIT = 10
RECALL_QUERIES = 3
WARM_UP = 5
NOW = datetime(2030, 1, 1, tzinfo=UTC)
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvz", "aeiou"


def run(*, data: Path | None, full: bool = False) -> dict[str, object]:
    """Return p50, p95 and p99 in milliseconds and the recall of each scene; `data` is not used."""
    queries = 300 if full else 100
    with scratch_database():
        project = create_project(name="Search", slug="search")
        template = _template(project, configured_embedder())
        scenes = {
            "one_user_1k": [template.id],
            "one_user_100k": copy_memories(template=template, users=1, times=100),
            "users_100_rows_100k": copy_memories(template=template, users=100, times=1),
        }
        with connection.cursor() as cursor:
            with suppress(ProgrammingError):  # needs a privilege; without it dirty pages are flushed during a scene
                cursor.execute("checkpoint")
            cursor.execute("vacuum analyze memories_memory, memories_memoryvector")
        measured = {
            name: _scene(project, users, queries // 4 if name == "one_user_100k" else queries)
            for name, users in scenes.items()
        }
        return {**measured, "floor_ms": _floor(), "embedder": configured_embedder().name}


def _scene(project: Project, users: Sequence[UUID], number: int) -> dict[str, object]:
    chance = random.Random(11)
    asked = [(chance.choice(users), f"what about {_sentence(chance, words=6)}?") for _ in range(number)]
    for user, text in asked[:WARM_UP]:
        _found(project, user, text)
    searches = [_timed(partial(_found, project, user, text)) for user, text in asked]
    contexts = [_timed(partial(_context, project, user, text)) for user, text in asked]
    recalls = [_recall(project, user, text) for user, text in asked[:RECALL_QUERIES]]
    return {**milliseconds(searches), "context": milliseconds(contexts), "recall": round(mean(recalls), 4)}


def _timed(act: Callable[[], object]) -> float:
    started = perf_counter()
    act()
    return perf_counter() - started


def _found(project: Project, user: UUID, text: str) -> list[UUID]:
    query = SearchQuery(text=text, limit=LIMIT, min_score=0.0)
    with tenant_scope(project_id=project.pk, end_user_id=user), _ranked(user, query) as ranking:
        return [hit.memory.id for hit in ranking.results(in_short=True)]


def _context(project: Project, user: UUID, text: str) -> ContextBlock:
    with tenant_scope(project_id=project.pk, end_user_id=user), _ranked(user, SearchQuery(text=text)) as ranking:
        return build_block(ranking, token_budget=1_000)


def _ranked(user: UUID, query: SearchQuery) -> AbstractContextManager[Ranking]:
    return ranked(end_user_id=user, query=query, embedder=configured_embedder(), policy=RetrievalPolicy(), now=NOW)


def _recall(project: Project, user: UUID, text: str) -> float:
    """Return the share of the texts found by comparing all memories; copies of a memory are the same to a user."""
    found = _found(project, user, text)
    with patch.object(candidates, "MOST_COMPARED", 10**9):
        wanted = _found(project, user, text)
    contents = dict(Memory.objects.for_end_user(user).filter(id__in=[*found, *wanted]).values_list("id", "content"))
    texts = {contents[each] for each in wanted}
    return len(texts & {contents[each] for each in found}) / len(texts)


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
