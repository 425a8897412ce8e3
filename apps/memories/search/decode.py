"""Decode the answer of query_sql.py into numpy arrays, without creating Python objects per memory."""

from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from apps.memories.search.query_sql import COSINES, ID, MEMORY, QUERY, VECTOR, VectorForm
from apps.memories.search.snapshot import SECONDS_TO_2000, Block, Rows, SignBlock, VectorBlock, Vectors
from apps.pipeline.retrieval.bm25 import Floats, Hashes, Places, Terms, Words, words_of
from apps.pipeline.retrieval.float16 import halves
from apps.pipeline.retrieval.signs import signs


class SnapshotRow(NamedTuple):
    """The only row of the statement; bytes are None if the read mode excludes them or there are no rows."""

    query: bytes
    revision: int
    meant: list[UUID]  # the entities that the query refers to
    shown: list[int]  # hashes of their public identifiers
    own: list[UUID]  # the end user's entity, where the query also speaks of the end user
    changed: bytes | None
    terms: bytes | None
    context_terms: bytes | None
    memories: bytes | None
    cosines: bytes | None
    vectors: bytes | None
    contents: bytes | None
    questions: bytes | None


def rows_of(answer: SnapshotRow) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the memories of an answer, and a mask of those that may be hits."""
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
        have_subject=np.ascontiguousarray(read["is_of_someone"]),
        language_bits=read["languages"].astype(np.int64),
        answer_types=read["answer_types"].astype(np.int64),
        ends_at=read["ends_at"].astype(np.int64),
        event_at=read["event_at"].astype(np.int64),
        are_events=np.ascontiguousarray(read["is_event"]),
        are_rules=np.ascontiguousarray(read["is_rule"]),
    )
    return rows, np.ascontiguousarray(read["eligible"])


def vectors_of(answer: SnapshotRow, rows: Rows, *, dimension: int, form: VectorForm) -> Vectors:
    """Return the vectors of an answer of ReadMode.WHOLE or ReadMode.CHANGES."""
    read = np.frombuffer(answer.vectors or b"", dtype=VECTOR)
    counts = read["questions"].astype(np.int64)
    contents, questions = answer.contents or b"", answer.questions or b""
    block: Block
    if form is VectorForm.SIGNS:
        of_contents, of_questions = (signs(packed, dimension=dimension) for packed in (contents, questions))
        block = SignBlock(contents=of_contents, questions=of_questions, counts=counts)
    else:
        block = VectorBlock(
            contents=halves(contents, dimension=dimension),
            questions=halves(questions, dimension=dimension),
            counts=counts,
        )
    return Vectors(places=_places(rows.ids, read["memory"].astype(np.uint64)), blocks=(block,))


def changed_of(answer: SnapshotRow) -> NDArray[np.uint64]:
    """Return the ids of all memories that were added, changed or deleted."""
    return np.frombuffer(answer.changed or b"", dtype=ID).astype(np.uint64)


def query_words(packed: bytes) -> Words:
    """Decode the words of a query from QUERY records."""
    read = np.frombuffer(packed, dtype=QUERY)
    return words_of(places=read["place"].astype(np.int64), terms=read["term"].astype(np.uint32))


def cosines_of(answer: SnapshotRow, rows: Rows) -> tuple[Floats, Floats]:
    """Return the content and question cosines that the database computed; NaN if a memory has no vector yet."""
    return chosen_cosines(answer.cosines or b"", rows.ids)


def chosen_cosines(packed: bytes, ids: NDArray[np.uint64]) -> tuple[Floats, Floats]:
    """Return the content and question cosines of COSINES records for some ids; NaN where there is none."""
    read = np.frombuffer(packed, dtype=COSINES)
    places = _places(ids, read["memory"].astype(np.uint64))
    content, questions = (np.append(read[name].astype(np.float64), np.nan) for name in ("content", "questions"))
    return content[places], questions[places]


def _places(ids: NDArray[np.uint64], known: NDArray[np.uint64]) -> Places:
    """Return the position of each id in `known`, or -1; ids are compared by their random half."""
    if not len(known):
        return np.full(len(ids), -1)
    order = np.argsort(known[:, 1])
    places = order[np.searchsorted(known[:, 1], ids[:, 1], sorter=order).clip(max=len(known) - 1)]
    result: Places = np.where(known[places, 1] == ids[:, 1], places, -1)
    return result


def _half(ids: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the lower half of UUIDs, which is random in both versions that are in use (5 and 7)."""
    return ids[:, 1].astype(np.uint64)


def _terms(packed: bytes | None, lengths: NDArray[np.int32]) -> Terms:
    return Terms(hashes=_hashes(packed or b""), lengths=lengths.astype(np.int64) // 4)


def _hashes(packed: bytes) -> Hashes:
    return np.frombuffer(packed, dtype=">u4").astype(np.uint32)
