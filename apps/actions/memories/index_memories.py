"""Index memories: store the vectors of their contents and of the questions that they answer."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from opentelemetry.trace import SpanKind

from apps.actions.memories.questions_due import enqueue_questions
from apps.memories.models import Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.enums import MemoryType, Stage
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Embedder, Ports
from apps.pipeline.indexing import index
from apps.pipeline.indexing.index import Indexable, VectorEntry
from apps.pipeline.indexing.model_questions import questions_model
from apps.pipeline.lexicon.language import is_english
from apps.telemetry.tracing import is_recording, span, stage_span
from apps.tenants.end_users import wait_for_writers
from apps.traces.policies import active_configuration, policy_of
from apps.traces.requests import traceparents_of

_FIELDS = (
    "id",
    "type",
    "content",
    "subject__name",
    "predicate",
    "object_text",
    "evidence",
    "tongue",
    "source_tongue",
    "trace_id",
    "created_at",
    "configuration",
)


def index_memories(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> None:
    """Index the memories that the work names; repeatable.

    If a model may write better questions, a call for them is enqueued as soon as there are enough memories.
    Raises LostLease, having written nothing.
    """
    rows = read_rows(_memories(lease.end_user_id, [each.subject_id for each in work]))
    told_in = traceparents_of_rows(lease, rows)
    with span("index memories", kind=SpanKind.CONSUMER, parents=told_in), stage_span(Stage.INDEX):
        entries = index.run(indexables(rows), embedder=ports.embedder, policy=policy_of_rows(rows).index)
        asks_model = questions_model(policy_of_rows(rows), ports) is not None
        with transaction.atomic():
            write_vectors(end_user_id=lease.end_user_id, entries=entries, embedder=ports.embedder)
            if asks_model and any(row["trace_id"] for row in rows):
                enqueue_questions(lease=lease, embedder=ports.embedder)
            processing.finish(lease=lease, work=work)


def traceparents_of_rows(lease: Lease, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the distributed traces in which memories were told, if spans are recorded."""
    if not is_recording():
        return []
    return traceparents_of(end_user_id=lease.end_user_id, trace_ids=[row["trace_id"] for row in rows])


def embed_memories(*, end_user_id: UUID, memory_ids: Sequence[UUID], embedder: Embedder) -> tuple[VectorEntry, ...]:
    """Embed the contents of one end user's memories and the questions that they answer."""
    rows = read_rows(_memories(end_user_id, memory_ids))
    return index.run(indexables(rows), embedder=embedder, policy=policy_of_rows(rows).index)


def write_vectors(
    *, end_user_id: UUID, entries: Sequence[VectorEntry], embedder: Embedder, questions_by: str = ""
) -> None:
    """Store the vectors of one end user's memories; those of the same embedder are replaced.

    `questions_by` is the model that was asked for the questions, empty for templates.
    """
    rows = (
        MemoryVector(
            end_user_id=end_user_id,
            memory_id=entry.memory_id,
            embedder=embedder.name,
            dimension=embedder.dimension,
            embedding=entry.vector,
            questions=entry.questions,
            question_embeddings=entry.question_vectors,
            questions_by=questions_by,
        )
        for entry in entries
    )
    with transaction.atomic():
        wait_for_writers(end_user_id)
        MemoryVector.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["end_user", "memory", "embedder"],
            update_fields=["dimension", "embedding", "questions", "question_embeddings", "questions_by"],
        )


def read_rows(memories: MemoryQuerySet) -> list[Mapping[str, Any]]:
    """Read what the index needs of memories, with the active configuration of their project in the same query."""
    rows = memories.annotate(configuration=active_configuration("project_id"))
    return [dict(row) for row in rows.values(*_FIELDS)]


def policy_of_rows(rows: Sequence[Mapping[str, Any]]) -> Policy:
    """Return the policy of the project whose memories were read."""
    configuration = rows[0]["configuration"] if rows else None
    return policy_of(configuration) if configuration else Policy()


def indexables(rows: Iterable[Mapping[str, Any]]) -> list[Indexable]:
    """Convert rows of memories."""
    return [_indexable(row) for row in rows]


def _memories(end_user_id: UUID, memory_ids: Sequence[UUID]) -> MemoryQuerySet:
    return Memory.objects.for_end_user(end_user_id).filter(id__in=memory_ids).order_by("id")


def _indexable(row: Mapping[str, Any]) -> Indexable:
    # Of a short English quote the database may not know the language.
    is_foreign = row["source_tongue"] != row["tongue"] and not is_english(row["evidence"])
    return Indexable(
        id=row["id"],
        type=MemoryType(row["type"]),
        content=row["content"],
        subject=row["subject__name"] or "",
        predicate=row["predicate"],
        object_text=row["object_text"],
        foreign_quote=row["evidence"] if is_foreign else "",
    )
