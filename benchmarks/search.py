"""How long a search takes inside one end user of 1,000 to 20,000 memories, and with 100 users in the same tables.

Memories are made-up sentences with a Zipf distribution of words, in sessions of 20, each with its four vectors; those
of 100 users lie in the tables in random order, as they do in life. Recall compares with a ranking of rows that the ORM
reads one by one. `floor_ms` is a bare round trip to the same database.

A process keeps what it has searched twice without a change. Each scene is measured in both ways: `first`, with nothing
kept, as after every change of a user's memories; and `kept`. On top stands how the scene is met: one user is searched
again and again (`kept`); of the 100, in random order, each for the first time (`first`).
"""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from time import perf_counter
from uuid import UUID

import numpy as np
from django.db import connection

from apps.actions.create_project import create_project
from apps.memories.kept import KEEPER
from apps.memories.models import Memory, MemoryVector
from apps.memories.scope import SearchQuery
from apps.memories.search import search
from apps.memories.unpacked import query_words
from apps.pipeline.bm25 import Hashes, Terms
from apps.pipeline.identifiers import end_user_id, new_id, session_id
from apps.pipeline.naming import without_names
from apps.pipeline.policy import RetrievalPolicy
from apps.pipeline.ports import Embedder
from apps.pipeline.ranking import Memories, best, rank, sessions_of
from apps.pipeline.vocabulary import MemoryType
from apps.providers.registry import embedder as configured_embedder
from apps.tenants.models import EndUser, Project
from apps.traces.models import Session
from benchmarks.figures import milliseconds
from benchmarks.filling import copy_memories, store_vectors
from benchmarks.scratch import scratch_database

NAME = "search"
TEMPLATE = 1_000
LIMIT = 10
RECALL_QUERIES = 3
SEARCHES_TO_KEEP = 2
NOW = datetime(2030, 1, 1, tzinfo=UTC)
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvz", "aeiou"


def run(*, data: Path | None, full: bool = False) -> dict[str, object]:
    """Return p50, p95 and p99 in milliseconds and the recall of each scene; nothing is read from `data`."""
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
            cursor.execute("vacuum analyze memories_memory, memories_memoryvector")
        measured = {
            name: _scene(users, embedder, queries if "1k" in name or "users" in name else queries // 4)
            for name, users in scenes.items()
        }
        return {**measured, "floor_ms": _floor(), "embedder": embedder.name}


def _scene(users: Sequence[UUID], embedder: Embedder, number: int) -> dict[str, object]:
    asked = list(_queries(number))
    for user in users[:5]:
        _search(user, asked[0], embedder)
    first = _timed(users, asked, embedder, is_first=True)
    for user in [*users] * SEARCHES_TO_KEEP:
        _search(user, asked[0], embedder)
    kept = _timed(users, asked, embedder, is_first=False)
    return {**(kept if len(users) == 1 else first), "first": first, "kept": kept}


def _timed(users: Sequence[UUID], asked: Sequence[str], embedder: Embedder, *, is_first: bool) -> dict[str, float]:
    times = []
    for place, text in enumerate(asked):
        if is_first:
            KEEPER.clear()
        started = perf_counter()
        _search(users[place * 37 % len(users)], text, embedder)
        times.append(perf_counter() - started)
    recall = mean(_recall(users[-1], text, embedder) for text in asked[:RECALL_QUERIES])
    return {**milliseconds(times), "recall": round(recall, 4)}


def _search(user: UUID, text: str, embedder: Embedder) -> list[UUID]:
    query = SearchQuery(text=text, limit=LIMIT)
    hits = search(end_user_id=user, query=query, embedder=embedder, policy=RetrievalPolicy(), now=NOW)
    return [hit.memory.id for hit in hits]


def _recall(user: UUID, text: str, embedder: Embedder) -> float:
    wanted = set(_ranked_row_by_row(user, text, embedder))
    return len(wanted.intersection(_search(user, text, embedder))) / len(wanted)


def _ranked_row_by_row(user: UUID, text: str, embedder: Embedder) -> list[UUID]:
    """Rank without the packed columns: rows by the ORM, cosines by numpy."""
    rows = list(Memory.objects.for_end_user(user))
    asked = np.array(embedder.embed([without_names(text)])[0])
    content: dict[UUID, float] = {}
    questions: dict[UUID, float] = {}
    for row in MemoryVector.objects.filter(end_user_id=user).iterator():
        content[row.memory_id] = float(np.dot(asked, row.embedding))
        questions[row.memory_id] = max(float(np.dot(asked, each)) for each in row.question_embeddings)
    with connection.cursor() as cursor:
        cursor.execute("select query_terms(%s, %s)", [sum({1 << row.tongue for row in rows}), text])
        query = query_words(bytes(cursor.fetchone()[0]))
    ids = np.array([[row.id.int >> 64, row.id.int & (1 << 64) - 1] for row in rows], dtype=np.uint64)
    sessions = np.array([(row.session_id or row.id).int & (1 << 64) - 1 for row in rows], dtype=np.uint64)
    said_at = np.array([row.said_at.timestamp() for row in rows])
    memories = Memories(
        ids=ids,
        terms=_terms([row.terms for row in rows]),
        context_terms=_terms([row.context_terms for row in rows]),
        sessions=sessions_of(ids=ids, sessions=sessions, said_at=said_at),
        said_at=said_at,
        content_cosine=np.array([content[row.id] for row in rows]),
        question_cosine=np.array([questions[row.id] for row in rows]),
        named=np.zeros(len(rows), dtype=np.bool_),
        of_others=np.zeros(len(rows), dtype=np.bool_),
        importance=np.array([row.importance for row in rows]),
        confidence=np.array([row.confidence for row in rows]),
    )
    scores = rank(memories=memories, query=query, now=NOW.timestamp(), policy=RetrievalPolicy())
    places = best(scores=scores, memories=memories, eligible=np.ones(len(rows), dtype=np.bool_), limit=LIMIT)
    return [rows[place].id for place in places.tolist()]


def _hashes(packed: bytes) -> Hashes:
    return np.frombuffer(bytes(packed), dtype=">u4").astype(np.uint32)


def _terms(packed: Sequence[bytes]) -> Terms:
    lengths = np.array([len(each) // 4 for each in packed], dtype=np.int64)
    return Terms(hashes=_hashes(b"".join(map(bytes, packed))), lengths=lengths)


def _floor() -> float:
    times = []
    for _ in range(100):
        started = perf_counter()
        with connection.cursor() as cursor:
            cursor.execute("select 1")
        times.append(perf_counter() - started)
    return milliseconds(times)["p50_ms"]


def _word(number: int) -> str:
    """Return the made-up word of that rank."""
    syllables = []
    number += 100
    while number:
        number, place = divmod(number, len(_CONSONANTS) * len(_VOWELS))
        syllables.append(_CONSONANTS[place % len(_CONSONANTS)] + _VOWELS[place // len(_CONSONANTS)])
    return "".join(syllables)


def _sentence(chance: random.Random, *, words: int) -> str:
    """Draw words by Zipf's law among 5,000."""
    return " ".join(_word(int(5_000 ** chance.random())) for _ in range(words))


def _queries(number: int) -> Iterator[str]:
    chance = random.Random(11)
    return (f"what about {_sentence(chance, words=6)}?" for _ in range(number))


def _template(project: Project, embedder: Embedder) -> EndUser:
    """Make one end user with 1,000 memories in sessions of 20, every one with its vectors."""
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
