"""What the statement of packed.py answers, as arrays: nothing of it costs an object a memory."""

from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.memories.search.query_sql import COSINES, ID, MEMORY, QUERY, VECTOR
from apps.memories.search.snapshot import SECONDS_TO_2000, Rows, VectorBlock, Vectors
from apps.pipeline.retrieval.bm25 import Floats, Hashes, Places, Terms, Words, words_of
from apps.pipeline.retrieval.float16 import halves


class SnapshotRow(NamedTuple):
    """The one row of the statement; of what was not read, or of nothing, the bytes are None."""

    query: bytes
    revision: int
    meant: list[UUID]
    shown: list[int]
    own: list[UUID]
    changed: bytes | None
    terms: bytes | None
    context_terms: bytes | None
    memories: bytes | None
    cosines: bytes | None
    vectors: bytes | None
    contents: bytes | None
    questions: bytes | None


def rows_of(answer: SnapshotRow) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the memories that were read, and which of them may be hits."""
    read = np.frombuffer(answer.memories or b"", dtype=MEMORY)
    rows = Rows(
        ids=read["id"].astype(np.uint64),
        terms=_terms(answer.terms, read["terms"]),
        context_terms=_terms(answer.context_terms, read["context_terms"]),
        sessions=_half(read["session"]),
        said_at=read["said_at"] / 1e6 + SECONDS_TO_2000,
        confidence=read["confidence"].astype(np.float64),
        importance=read["importance"].astype(np.float64),
        subjects=_half(read["subject"]),
        objects=read["object"].astype(np.int64),
        are_of_someone=np.ascontiguousarray(read["is_of_someone"]),
        their_tongues=1 << read["tongue"].astype(np.int64),
        ends_at=read["ends_at"].astype(np.int64),
    )
    return rows, np.ascontiguousarray(read["eligible"])


def vectors_of(answer: SnapshotRow, rows: Rows, *, dimension: int) -> Vectors:
    """Return the vectors that were read whole."""
    read = np.frombuffer(answer.vectors or b"", dtype=VECTOR)
    block = VectorBlock(
        contents=halves(answer.contents or b"", dimension=dimension),
        questions=halves(answer.questions or b"", dimension=dimension),
        counts=read["questions"].astype(np.int64),
    )
    return Vectors(places=_places(rows.ids, read["memory"].astype(np.uint64)), blocks=(block,))


def changed_of(answer: SnapshotRow) -> NDArray[np.uint64]:
    """Return the identifiers of the memories that have changed in any way."""
    return np.frombuffer(answer.changed or b"", dtype=ID).astype(np.uint64)


def query_words(packed: bytes) -> Words:
    """Return the words of a query from its QUERY records."""
    read = np.frombuffer(packed, dtype=QUERY)
    return words_of(places=read["place"].astype(np.int64), terms=read["term"].astype(np.uint32))


def cosines_of(answer: SnapshotRow, rows: Rows) -> tuple[Floats, Floats]:
    """Return the cosines that the database has computed, NaN where a vector is owed."""
    read = np.frombuffer(answer.cosines or b"", dtype=COSINES)
    places = _places(rows.ids, read["memory"].astype(np.uint64))
    content, questions = (np.append(read[name].astype(np.float64), np.nan) for name in ("content", "questions"))
    return content[places], questions[places]


def _places(ids: NDArray[np.uint64], known: NDArray[np.uint64]) -> Places:
    """Return where each id is among the known ones, -1 where it is not; the random half of an id tells."""
    if not len(known):
        return np.full(len(ids), -1)
    order = np.argsort(known[:, 1])
    places = order[np.searchsorted(known[:, 1], ids[:, 1], sorter=order).clip(max=len(known) - 1)]
    result: Places = np.where(known[places, 1] == ids[:, 1], places, -1)
    return result


def _half(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the half of identifiers that is random in both kinds of UUID that are used."""
    return ids[:, 1].astype(np.uint64)


def _terms(packed: bytes | None, lengths: NDArray[np.int32]) -> Terms:
    return Terms(hashes=_hashes(packed or b""), lengths=lengths.astype(np.int64) // 4)


def _hashes(packed: bytes) -> Hashes:
    return np.frombuffer(packed, dtype=">u4").astype(np.uint32)
