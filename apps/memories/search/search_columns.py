"""Read one end user's memories as columns for ranking.

An end user has tens to tens of thousands of memories, so all of them are scored exactly. Ordinary result rows would
create a Python object per value; packed by PostgreSQL (query_sql.py) and decoded by numpy (decode.py), a thousand
memories take about two milliseconds. All string_agg calls of one aggregation see the rows in the same order, so the
columns match. Cached memories (cache.py) are not read again unless they have changed.
"""

from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.memories.search.cache import CACHE, CachedUser, Key
from apps.memories.search.decode import (
    SnapshotRow,
    changed_of,
    chosen_cosines,
    cosines_of,
    query_words,
    rows_of,
    vectors_of,
)
from apps.memories.search.query import QueryTerms, read_cosines, run_query, send_query
from apps.memories.search.query_sql import ReadMode, VectorForm
from apps.memories.search.read_replica import Source, from_replica_or_primary
from apps.memories.search.scope import SearchScope
from apps.memories.search.snapshot import Block, Cosines, Rows
from apps.memories.sql_pipeline import pipelined
from apps.pipeline.retrieval.answer_types import AnswerType
from apps.pipeline.retrieval.block_choice import Kinds
from apps.pipeline.retrieval.bm25 import Places, Words
from apps.pipeline.retrieval.ranking import Memories, Sessions


@dataclass(frozen=True, slots=True)
class Columns:
    """The memories to rank, a mask of those that may be hits, what a block chooses by, and the words of the query."""

    query: Words
    memories: Memories
    eligible: NDArray[np.bool_]
    kinds: Kinds
    are_estimates: bool  # the cosines, of the signs of the vectors

    def id_at(self, place: int) -> UUID:
        """Return the id of the memory at a position."""
        high, low = self.memories.ids[place].tolist()
        return UUID(int=high << 64 | low)


def read_columns(*, end_user_id: UUID, asked: QueryTerms, scope: SearchScope) -> Columns:
    """Read all memories of a scope, or only those that have changed since they were cached.

    This takes one round trip, and with a read replica another one to the primary.
    """
    return from_replica_or_primary(end_user_id, lambda source: _read(source, end_user_id, asked, scope))


def _read(source: Source, end_user_id: UUID, asked: QueryTerms, scope: SearchScope) -> Columns:
    # The changes of an open transaction have no revision number yet, so the cache can't be used.
    if not scope.is_plain or connection.in_atomic_block:
        return _read_compared(source, end_user_id, asked, scope)
    key = (end_user_id, asked.embedder, len(asked.vector), scope.agent_id)
    cached = CACHE.find(key, moment=scope.values["moment"])
    if cached:
        columns = _update_cached(source, key, cached, asked, scope)
        return columns or _read(source, end_user_id, asked, scope)
    if form := CACHE.form_of(key):
        return _read_and_cache(source, key, asked, scope, form)
    columns = _read_compared(source, end_user_id, asked, scope)
    CACHE.mark_seen(key, rows=len(columns.memories))
    return columns


def with_exact_cosines(columns: Columns, *, end_user_id: UUID, asked: QueryTerms, places: Places) -> Columns:
    """Replace the estimated cosines at some positions, in one round trip."""
    memories = columns.memories
    packed = read_cosines(end_user_id, asked, [columns.id_at(place) for place in places.tolist()])
    exact = chosen_cosines(packed, memories.ids[places])
    content, questions = memories.content_cosine.copy(), memories.question_cosine.copy()
    content[places], questions[places] = exact
    return replace(columns, memories=replace(memories, content_cosine=content, question_cosine=questions))


def _read_compared(source: Source, end_user_id: UUID, asked: QueryTerms, scope: SearchScope) -> Columns:
    answer = run_query(source, end_user_id, asked, scope, ReadMode.COMPARED)
    rows, eligible = rows_of(answer)
    return _columns(answer, rows, rows.in_sessions(), cosines_of(answer, rows), eligible, asked.wanted)


def _read_and_cache(source: Source, key: Key, asked: QueryTerms, scope: SearchScope, form: VectorForm) -> Columns:
    answer = run_query(source, key[0], asked, scope, ReadMode.WHOLE, form)
    rows, eligible = rows_of(answer)
    vectors = vectors_of(answer, rows, dimension=len(asked.vector), form=form)
    cached = CachedUser.of(revision=answer.revision, since=scope.values["moment"], rows=rows, vectors=vectors)
    CACHE.put(key, cached)
    cosines = vectors.of_memories(vectors.compared(asked.vector, before={}))
    return _columns(answer, rows, cached.sessions, cosines, eligible, asked.wanted, are_estimates=vectors.are_signs)


def _update_cached(
    source: Source, key: Key, cached: CachedUser, asked: QueryTerms, scope: SearchScope
) -> Columns | None:
    """Read the changes since the cached revision and apply them; None if the query has to be repeated."""
    languages = cached.rows.tongues
    form = VectorForm.SIGNS if cached.vectors.are_signs else VectorForm.HALVES
    with source.connection.cursor() as cursor, pipelined(source.connection):
        send_query(
            cursor,
            key[0],
            asked,
            scope,
            ReadMode.CHANGES,
            form=form,
            cached_revision=cached.revision,
            tongues=languages,
        )
        compared = cached.vectors.compared(asked.vector, before={})  # while the database works
        answer = source.checked(SnapshotRow(*cursor.fetchone()))
    if answer.revision < cached.revision:  # the end user was erased, or the database restored from a backup
        CACHE.forget(key)
        return None
    if answer.revision > cached.revision:
        rows, _ = rows_of(answer)
        languages |= rows.tongues
        cached = cached.changed(
            revision=answer.revision,
            moment=scope.values["moment"],
            changed=changed_of(answer),
            rows=rows,
            vectors=vectors_of(answer, rows, dimension=len(asked.vector), form=form),
        )
        CACHE.put(key, cached)
    if cached.rows.tongues != languages:  # the query was stemmed in a language that no memory has any more
        return None
    return _cached_columns(answer, cached, asked, scope, compared)


def _cached_columns(
    answer: SnapshotRow, cached: CachedUser, asked: QueryTerms, scope: SearchScope, compared: dict[Block, Cosines]
) -> Columns:
    """Return the columns of cached memories; `compared` has the cosines of blocks that were compared already."""
    cosines = cached.vectors.of_memories(cached.vectors.compared(asked.vector, before=compared))
    eligible = cached.rows.confidence >= scope.values["least"]
    return _columns(
        answer,
        cached.rows,
        cached.sessions,
        cosines,
        eligible,
        asked.wanted,
        are_estimates=cached.vectors.are_signs,
    )


def _columns(
    answer: SnapshotRow,
    rows: Rows,
    sessions: Sessions,
    cosines: Cosines,
    eligible: NDArray[np.bool_],
    wanted: AnswerType,
    *,
    are_estimates: bool = False,
) -> Columns:
    content, questions = cosines
    subjects = rows.subjects
    named = np.isin(subjects, _halves_of(answer.meant)) | np.isin(rows.objects, np.array(answer.shown, dtype=np.int64))
    others = rows.have_subject & ~named & ~np.isin(subjects, _halves_of(answer.own))
    memories = Memories(
        ids=rows.ids,
        terms=rows.terms,
        context_terms=rows.context_terms,
        sessions=sessions,
        said_at=rows.said_at,
        content_cosine=content,
        question_cosine=questions,
        named=named,
        are_statements=rows.have_subject,
        of_others=others if answer.meant else np.zeros_like(named),
        lacks_answer=(rows.answer_types & wanted.value == 0) if wanted else np.zeros_like(named),
        importance=rows.importance,
        confidence=rows.confidence,
    )
    kinds = Kinds(event_at=rows.event_at, are_events=rows.are_events, are_rules=rows.are_rules)
    return Columns(
        query=query_words(answer.query),
        memories=memories,
        eligible=eligible,
        kinds=kinds,
        are_estimates=are_estimates,
    )


def _halves_of(ids: list[UUID]) -> NDArray[np.uint64]:
    return np.array([each.int & (1 << 64) - 1 for each in ids], dtype=np.uint64)
