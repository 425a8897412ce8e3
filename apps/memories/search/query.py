"""Send a query to the database, which answers in one row of packed bytes."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from psycopg.pq import Format

from apps.memories.search.decode import SnapshotRow
from apps.memories.search.entity_lookup import meant_values
from apps.memories.search.query_sql import ReadMode, packing
from apps.memories.search.scope import SearchScope
from apps.memories.vector_literals import as_text
from apps.pipeline.core.ports import Vector
from apps.pipeline.retrieval.query_entities import Names

_NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query as the database takes it: its text, the names that it may hold, and its vector."""

    text: str
    names: Names
    embedder: str
    vector: Vector


def run_query(end_user_id: UUID, asked: QueryTerms, scope: SearchScope, reading: ReadMode) -> SnapshotRow:
    """Send a query and wait for the answer."""
    with connection.cursor() as cursor:
        send_query(cursor, end_user_id, asked, scope, reading)
        return SnapshotRow(*cursor.fetchone())


def send_query(
    cursor: Any,
    end_user_id: UUID,
    asked: QueryTerms,
    scope: SearchScope,
    reading: ReadMode,
    *,
    held: int = 0,
    tongues: int = 0,
) -> None:
    """Send a query; of changes, with the revision that is held and the languages that it is in."""
    values = {
        **scope.values,
        "end_user": end_user_id,
        "nobody": _NOBODY,
        "query": asked.text,
        **meant_values(asked.names),
        "embedder": asked.embedder,
        "dimension": len(asked.vector),
        "held": held,
        "tongues": tongues,
    }
    if reading is ReadMode.COMPARED:  # long to write
        values["vector"] = as_text(asked.vector)
    cursor.cursor.format = Format.BINARY  # as text, bytes come twice as long
    cursor.execute(packing(scope, reading), values)
