"""One end user's memories as columns: a single row of packed bytes that ranking reads without an object a memory.

A user has tens to tens of thousands of memories, so all of them are scored, exactly. Sent as ordinary rows they would
cost a Python object a value; packed by PostgreSQL (packed.py) and read by numpy a thousand take about two
milliseconds. Every string_agg of one aggregation sees the rows in the same order, so the columns match. What is kept at
the database's revision (kept.py) is not read at all.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray
from psycopg.pq import Format

from apps.memories.kept import KEEPER, NOTHING, Kept
from apps.memories.meant import meant_values
from apps.memories.packed import packing
from apps.memories.scope import Scope
from apps.memories.searched import Rows, Vectors
from apps.memories.unpacked import Answer, cosines_of, query_words, rows_of, vectors_of
from apps.memories.vectors import as_text
from apps.pipeline.bm25 import Words
from apps.pipeline.naming import Names
from apps.pipeline.ports import Vector
from apps.pipeline.ranking import Memories

_NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as the database takes it: its text, the names that it may hold, and its vector."""

    text: str
    names: Names
    embedder: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class Columns:
    """The searched memories, which of them may be hits, and the query's words."""

    query: Words
    memories: Memories
    eligible: NDArray[np.bool_]

    def id_at(self, place: int) -> UUID:
        """Return the identifier of the memory at a place."""
        high, low = self.memories.ids[place].tolist()
        return UUID(int=high << 64 | low)


def read_columns(*, end_user_id: UUID, asked: Asked, scope: Scope) -> Columns:
    """Read all memories of a scope in one round trip, or only whether those that are kept are still the same."""
    moment: datetime = scope.values["moment"]
    key = (end_user_id, asked.embedder, len(asked.vector))
    # What a transaction has changed itself has no revision yet.
    may_keep = scope.is_plain and not connection.in_atomic_block
    kept = KEEPER.find(key) if may_keep else None
    held = kept.revision if kept and kept.counts_at(moment) else NOTHING
    wanted = KEEPER.wanted(key) if may_keep and held == NOTHING else NOTHING
    tongues = kept.rows.tongues if kept else 0
    answer = _ask(end_user_id, asked, scope, held=held, wanted=wanted, tongues=tongues)
    if kept and answer.revision == held:
        return _columns(answer, asked, kept.rows, kept.vectors, kept.rows.confidence >= scope.values["least"])
    rows, eligible = rows_of(answer)
    vectors = vectors_of(answer, rows, dimension=len(asked.vector)) if answer.revision == wanted else None
    if vectors:
        KEEPER.keep(key, Kept(revision=wanted, since=moment, rows=rows, vectors=vectors))
    elif may_keep:
        KEEPER.see(key, revision=answer.revision, rows=len(rows))
    return _columns(answer, asked, rows, vectors, eligible)


def _ask(end_user_id: UUID, asked: Asked, scope: Scope, *, held: int, wanted: int, tongues: int) -> Answer:
    values = {
        **scope.values,
        "end_user": end_user_id,
        "nobody": _NOBODY,
        "query": asked.text,
        **meant_values(asked.names),
        "embedder": asked.embedder,
        "dimension": len(asked.vector),
        "vector": as_text(asked.vector),
        "held": held,
        "wanted": wanted,
        "tongues": tongues,
    }
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY  # as text, bytes come twice as long
        cursor.execute(packing(scope), values)
        return Answer(*cursor.fetchone())


def _columns(answer: Answer, asked: Asked, rows: Rows, vectors: Vectors | None, eligible: NDArray[np.bool_]) -> Columns:
    content, questions = vectors.compared(asked.vector) if vectors else cosines_of(answer, rows)
    subjects = rows.subjects
    named = np.isin(subjects, _halves_of(answer.meant)) | np.isin(rows.objects, np.array(answer.shown, dtype=np.int64))
    others = rows.are_of_someone & ~named & ~np.isin(subjects, _halves_of(answer.own))
    memories = Memories(
        ids=rows.ids,
        terms=rows.terms,
        context_terms=rows.context_terms,
        sessions=rows.sessions,
        said_at=rows.said_at,
        content_cosine=content,
        question_cosine=questions,
        named=named,
        of_others=others if answer.meant else np.zeros_like(named),
        importance=rows.importance,
        confidence=rows.confidence,
    )
    return Columns(query=query_words(answer.query), memories=memories, eligible=eligible)


def _halves_of(ids: list[UUID]) -> NDArray[np.uint64]:
    return np.array([each.int & (1 << 64) - 1 for each in ids], dtype=np.uint64)
