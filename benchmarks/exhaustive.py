"""Reference search over ordinary rows, without packed columns or cache, that the fast search has to match."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection

from apps.memories.models import Memory
from apps.memories.search.decode import query_words
from apps.memories.search.embedder_noise import noise_floor_of
from apps.memories.vector_literals import as_text
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder, Vector
from apps.pipeline.retrieval.answer_types import wanted_answer
from apps.pipeline.retrieval.bm25 import Terms
from apps.pipeline.retrieval.query_entities import without_names
from apps.pipeline.retrieval.ranking import Memories, best, match_words, rank, sessions_of

READ = (
    "tongue",
    "source_tongue",
    "terms",
    "context_terms",
    "session_id",
    "said_at",
    "importance",
    "confidence",
    "predicate",
    "subject_id",
    "answer_types",
)


def ranked_row_by_row(*, user: UUID, text: str, embedder: Embedder, now: datetime, limit: int) -> list[UUID]:
    """Return the best memories, ranked row by row with cosines in full precision."""
    rows = list(Memory.objects.for_end_user(user).only(*READ))
    wanted = wanted_answer(text)
    content, questions = _cosines(user, embedder.embed([without_names(text)])[0])
    with connection.cursor() as cursor:
        languages = {tongue for row in rows for tongue in (row.tongue, row.source_tongue)}
        cursor.execute("select query_terms(%s, %s)", [sum(1 << each for each in languages), text])
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
        are_statements=np.array([bool(row.predicate and row.subject_id) for row in rows]),
        of_others=np.zeros(len(rows), dtype=np.bool_),
        lacks_answer=np.array([bool(wanted) and not row.answer_types & wanted for row in rows], dtype=np.bool_),
        importance=np.array([row.importance for row in rows]),
        confidence=np.array([row.confidence for row in rows]),
    )
    scores = rank(
        memories=memories,
        words=match_words(memories=memories, query=query, policy=RetrievalPolicy()),
        noise_floor=noise_floor_of(embedder),
        now=now.timestamp(),
        policy=RetrievalPolicy(),
    )
    places = best(scores=scores, memories=memories, eligible=np.ones(len(rows), dtype=np.bool_), limit=limit)
    return [rows[place].id for place in places.tolist()]


def _cosines(user: UUID, asked: Vector) -> tuple[dict[UUID, float], dict[UUID, float]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "select memory_id, -(embedding::vector <#> %(asked)s::vector),"
            " -(select min(each::vector <#> %(asked)s::vector) from unnest(question_embeddings) each)"
            " from memories_memoryvector where end_user_id = %(user)s",
            {"user": user, "asked": as_text(asked)},
        )
        rows = cursor.fetchall()
    return {row[0]: row[1] for row in rows}, {row[0]: row[2] for row in rows}


def _terms(packed: Sequence[bytes]) -> Terms:
    lengths = np.array([len(each) // 4 for each in packed], dtype=np.int64)
    hashes = np.frombuffer(b"".join(map(bytes, packed)), dtype=">u4").astype(np.uint32)
    return Terms(hashes=hashes, lengths=lengths)
