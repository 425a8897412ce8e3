"""One end user's memories as columns: a single row of packed bytes that ranking reads without an object a memory.

A user has tens to tens of thousands of memories, so all of them are scored, exactly. Sent as ordinary rows they would
cost a Python object a value; packed by PostgreSQL (packed.py) and read by numpy a thousand take about two
milliseconds. Every string_agg of one aggregation sees the rows in the same order, so the columns match.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from apps.memories.meant import meant_values
from apps.memories.packed import MEMORY, QUERY, VECTOR, packing
from apps.memories.scope import Scope
from apps.memories.vectors import as_text
from apps.pipeline.bm25 import Floats, Hashes, Terms, Words, words_of
from apps.pipeline.naming import Names
from apps.pipeline.ports import Vector
from apps.pipeline.ranking import Memories

_YEAR_2000 = datetime(2000, 1, 1, tzinfo=UTC).timestamp()


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
    """Read all memories of a scope in one round trip."""
    values = {
        **scope.values,
        "end_user": end_user_id,
        "query": asked.text,
        **meant_values(asked.names),
        "embedder": asked.embedder,
        "dimension": len(asked.vector),
        "vector": as_text(asked.vector),
    }
    with connection.cursor() as cursor:
        cursor.execute(packing(scope), values)
        row = cursor.fetchone()
    return _columns([bytes(each) if each is not None else b"" for each in row])


def _columns(row: Sequence[bytes]) -> Columns:
    query, terms, context_terms, packed, compared = row
    read, vectors = np.frombuffer(packed, dtype=MEMORY), np.frombuffer(compared, dtype=VECTOR)
    ids, known = read["id"].astype(np.uint64), vectors["memory"].astype(np.uint64)
    memories = Memories(
        ids=ids,
        terms=_terms(terms, read["terms"]),
        context_terms=_terms(context_terms, read["context_terms"]),
        sessions=read["session"][:, 1].astype(np.uint64),  # this half is random in both kinds of UUID that are used
        said_at=read["said_at"] / 1e6 + _YEAR_2000,
        content_cosine=_matched(ids, known, vectors["content"].astype(np.float64)),
        question_cosine=_matched(ids, known, vectors["questions"].astype(np.float64)),
        named=np.ascontiguousarray(read["named"]),
        of_others=np.ascontiguousarray(read["of_others"]),
        importance=read["importance"].astype(np.float64),
        confidence=read["confidence"].astype(np.float64),
    )
    return Columns(query=query_words(query), memories=memories, eligible=np.ascontiguousarray(read["eligible"]))


def query_words(packed: bytes) -> Words:
    """Return the words of a query from its QUERY records."""
    read = np.frombuffer(packed, dtype=QUERY)
    return words_of(places=read["place"].astype(np.int64), terms=read["term"].astype(np.uint32))


def _matched(ids: NDArray[np.uint64], known: NDArray[np.uint64], values: Floats) -> Floats:
    """Return the value of each id among the known ones, NaN for the others; the random half of an id tells."""
    if not len(known):
        return np.full(len(ids), np.nan)
    order = np.argsort(known[:, 1])
    places = order[np.searchsorted(known[:, 1], ids[:, 1], sorter=order).clip(max=len(known) - 1)]
    return np.where(known[places, 1] == ids[:, 1], values[places], np.nan)


def _terms(packed: bytes, lengths: NDArray[np.int32]) -> Terms:
    return Terms(hashes=_hashes(packed), lengths=lengths.astype(np.int64) // 4)


def _hashes(packed: bytes) -> Hashes:
    return np.frombuffer(packed, dtype=">u4").astype(np.uint32)
