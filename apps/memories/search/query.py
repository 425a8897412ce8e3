"""Send a query to the database, which answers with one row of packed binary records."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from apps.memories.search.decode import SnapshotRow
from apps.memories.search.entity_lookup import meant_values
from apps.memories.search.query_sql import CHOSEN_COSINES, ReadMode, VectorForm, packing
from apps.memories.search.read_replica import Source
from apps.memories.search.scope import SearchScope
from apps.memories.vector_literals import as_text
from apps.pipeline.core.ports import Vector
from apps.pipeline.retrieval.answer_types import ANY_ANSWER, AnswerType
from apps.pipeline.retrieval.query_entities import Names

_NO_SUBJECT = UUID(int=0)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query in the form that the database needs, and the type of answer that it asks for."""

    text: str
    names: Names
    embedder: str
    vector: Vector
    wanted: AnswerType = ANY_ANSWER


def run_query(
    source: Source,
    end_user_id: UUID,
    asked: QueryTerms,
    scope: SearchScope,
    reading: ReadMode,
    form: VectorForm = VectorForm.HALVES,
) -> SnapshotRow:
    """Send a query and return the answer. Raises ReplicaBehind."""
    with source.connection.cursor() as cursor:
        send_query(cursor, end_user_id, asked, scope, reading, form=form)
        return source.checked(SnapshotRow(*cursor.fetchone()))


def send_query(
    cursor: Any,
    end_user_id: UUID,
    asked: QueryTerms,
    scope: SearchScope,
    reading: ReadMode,
    *,
    form: VectorForm = VectorForm.HALVES,
    cached_revision: int | None = None,
    tongues: int = 0,
) -> None:
    """Send a query; ReadMode.CHANGES needs the revision and the language bits of the cached memories."""
    values = {
        **scope.values,
        "end_user": end_user_id,
        "no_subject": _NO_SUBJECT,
        "query": asked.text,
        **meant_values(asked.names),
        "embedder": asked.embedder,
        "dimension": len(asked.vector),
        "revision": cached_revision,
        "tongues": tongues,
    }
    if reading is ReadMode.COMPARED:  # only then, because formatting a vector is slow
        values["vector"] = as_text(asked.vector)
    cursor.cursor.format = Format.BINARY  # the text format doubles the size of bytes
    cursor.execute(packing(scope, reading, form), values)


def read_cosines(end_user_id: UUID, asked: QueryTerms, chosen: list[UUID]) -> bytes:
    """Return COSINES records of some memories, from the primary: these are few."""
    values: dict[str, Any] = {
        "end_user": end_user_id,
        "embedder": asked.embedder,
        "dimension": len(asked.vector),
        "vector": as_text(asked.vector),
        "chosen": chosen,
    }
    with connection.cursor() as cursor:
        cursor.cursor.format = Format.BINARY
        cursor.execute(CHOSEN_COSINES, values)
        (packed,) = cursor.fetchone()
    return packed or b""
