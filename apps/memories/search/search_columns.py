"""One end user's memories as columns: a single row of packed bytes that ranking reads without an object a memory.

A user has tens to tens of thousands of memories, so all of them are scored, exactly. Sent as ordinary rows they would
cost a Python object a value; packed by PostgreSQL (packed.py) and read by numpy a thousand take about two
milliseconds. Every string_agg of one aggregation sees the rows in the same order, so the columns match. Of what is kept
(kept.py) only what has changed is read.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.memories.search.cache import CACHE, CachedUser, Key
from apps.memories.search.decode import SnapshotRow, changed_of, cosines_of, query_words, rows_of, vectors_of
from apps.memories.search.query import QueryTerms, run_query, send_query
from apps.memories.search.query_sql import ReadMode
from apps.memories.search.scope import SearchScope
from apps.memories.search.snapshot import Cosines, Rows
from apps.memories.sql_pipeline import pipelined
from apps.pipeline.retrieval.bm25 import Words
from apps.pipeline.retrieval.ranking import Memories, Sessions


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


def read_columns(*, end_user_id: UUID, asked: QueryTerms, scope: SearchScope) -> Columns:
    """Read all memories of a scope in one round trip, or those that have changed since they were kept."""
    # What a transaction has changed itself has no revision yet.
    if not scope.is_plain or connection.in_atomic_block:
        return _compared(run_query(end_user_id, asked, scope, ReadMode.COMPARED))
    key = (end_user_id, asked.embedder, len(asked.vector))
    kept = CACHE.find(key, moment=scope.values["moment"])
    if kept:
        return _kept(key, kept, asked, scope) or read_columns(end_user_id=end_user_id, asked=asked, scope=scope)
    if CACHE.was_seen(key):
        return _whole(key, run_query(end_user_id, asked, scope, ReadMode.WHOLE), asked, scope)
    columns = _compared(run_query(end_user_id, asked, scope, ReadMode.COMPARED))
    CACHE.see(key, rows=len(columns.memories))
    return columns


def _compared(answer: SnapshotRow) -> Columns:
    rows, eligible = rows_of(answer)
    return _columns(answer, rows, rows.in_sessions(), cosines_of(answer, rows), eligible)


def _whole(key: Key, answer: SnapshotRow, asked: QueryTerms, scope: SearchScope) -> Columns:
    """Keep what was read, and search it."""
    rows, eligible = rows_of(answer)
    vectors = vectors_of(answer, rows, dimension=len(asked.vector))
    kept = CachedUser.of(revision=answer.revision, since=scope.values["moment"], rows=rows, vectors=vectors)
    CACHE.keep(key, kept)
    cosines = vectors.of_memories(vectors.compared(asked.vector, before={}))
    return _columns(answer, rows, kept.sessions, cosines, eligible)


def _kept(key: Key, kept: CachedUser, asked: QueryTerms, scope: SearchScope) -> Columns | None:
    """Search what is kept, with what has changed since; nothing where that can't be told, and has to be asked again."""
    with connection.cursor() as cursor, pipelined():
        send_query(cursor, key[0], asked, scope, ReadMode.CHANGES, held=kept.revision, tongues=kept.rows.tongues)
        compared = kept.vectors.compared(asked.vector, before={})  # while the database works
        answer = SnapshotRow(*cursor.fetchone())
    if answer.revision < kept.revision:  # the database is another, or an older one
        CACHE.forget(key)
        return None
    stemmed = kept.rows.tongues
    if answer.revision > kept.revision:
        rows, _ = rows_of(answer)
        stemmed |= rows.tongues
        kept = _changed(kept, answer, rows, dimension=len(asked.vector), moment=scope.values["moment"])
        CACHE.keep(key, kept)
    if kept.rows.tongues != stemmed:  # the last memory in a language has gone, and the query was stemmed in it
        return None
    cosines = kept.vectors.of_memories(kept.vectors.compared(asked.vector, before=compared))
    return _columns(answer, kept.rows, kept.sessions, cosines, kept.rows.confidence >= scope.values["least"])


def _changed(kept: CachedUser, answer: SnapshotRow, rows: Rows, *, dimension: int, moment: datetime) -> CachedUser:
    return kept.changed(
        revision=answer.revision,
        moment=moment,
        changed=changed_of(answer),
        rows=rows,
        vectors=vectors_of(answer, rows, dimension=dimension),
    )


def _columns(
    answer: SnapshotRow, rows: Rows, sessions: Sessions, cosines: Cosines, eligible: NDArray[np.bool_]
) -> Columns:
    content, questions = cosines
    subjects = rows.subjects
    named = np.isin(subjects, _halves_of(answer.meant)) | np.isin(rows.objects, np.array(answer.shown, dtype=np.int64))
    others = rows.are_of_someone & ~named & ~np.isin(subjects, _halves_of(answer.own))
    memories = Memories(
        ids=rows.ids,
        terms=rows.terms,
        context_terms=rows.context_terms,
        sessions=sessions,
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
