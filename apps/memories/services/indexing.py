"""Index memories, ask for the questions that they answer, and embed them again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Subquery
from django.db.models.functions import Now
from opentelemetry.trace import SpanKind

from apps.memories.models import Entity, Memory, MemoryVector
from apps.memories.querysets import MemoryQuerySet
from apps.outbox import processing
from apps.outbox.enqueue import enqueue
from apps.outbox.leases import Lease
from apps.outbox.models import OutboxRow
from apps.outbox.processing import NextWork
from apps.pipeline.core.enums import MemoryType, Stage, WorkKind, WorkState
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Embedder, Ports
from apps.pipeline.indexing import index
from apps.pipeline.indexing.index import Indexable, VectorEntry
from apps.pipeline.indexing.model_questions import MEMORIES_PER_CALL, ask_model, questions_model
from apps.pipeline.lexicon.language import is_english
from apps.telemetry.tracing import is_recording, span, stage_span
from apps.tenants.end_users import wait_for_writers
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces import recorder
from apps.traces.policies import active_configuration, policy_of
from apps.traces.requests import traceparents_of

WAIT = timedelta(seconds=45)


def without_model_questions(*, end_user_id: UUID, embedder: Embedder) -> MemoryQuerySet:
    """Return an end user's live extracted memories whose questions no model has written, oldest first.

    Memories that callers stored directly are left out: they have no trace that could record the cost.
    """
    templates = MemoryVector.objects.filter(
        end_user_id=end_user_id, memory_id=OuterRef("id"), embedder=embedder.name, questions_by=""
    )
    of_user = Memory.objects.for_end_user(end_user_id).live()
    return of_user.filter(Exists(templates), trace__isnull=False).order_by("id")


def enqueue_questions(*, lease: Lease, embedder: Embedder) -> None:
    """Enqueue a call for questions in the caller's transaction; for few memories it is due after a while."""
    due = without_model_questions(end_user_id=lease.end_user_id, embedder=embedder)
    ids = list(due.values_list("id", flat=True)[:MEMORIES_PER_CALL])
    if not ids:
        return
    asking = WorkKind.ASK_QUESTIONS
    enqueue(end_user_id=lease.end_user_id, project_id=lease.project_id, kind=asking, subject_ids=ids[:1])
    untried = OutboxRow.objects.filter(
        end_user_id=lease.end_user_id, kind=asking, state=WorkState.PENDING, attempts=0, waiting_since=None
    )
    if len(ids) == MEMORIES_PER_CALL:
        untried.update(run_at=Now())
    else:
        untried.filter(run_at__lte=Now()).update(run_at=Now() + WAIT)


_LATEST_QUOTES = 20  # among which another language is looked for
_FIELDS = (
    "id", "type", "content", "subject__name", "predicate", "object_text", "evidence", "tongue", "source_tongue",
    "trace_id", "created_at", "configuration", "user",
)  # fmt: skip


def index_memories(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> None:
    """Index the memories that the work names; repeatable.

    If a model may write better questions, a call for them is enqueued as soon as there are enough memories.
    Raises LostLease, having written nothing.
    """
    rows = _read(lease.end_user_id, [each.subject_id for each in work])
    told_in = _told_in(lease, rows)
    with span("index memories", kind=SpanKind.CONSUMER, parents=told_in), stage_span(Stage.INDEX):
        entries = index.run(_indexables(rows), embedder=ports.embedder, policy=_policy_of(rows).index)
        asks_model = questions_model(_policy_of(rows), ports) is not None
        with transaction.atomic():
            write_vectors(end_user_id=lease.end_user_id, entries=entries, embedder=ports.embedder)
            if asks_model and any(row["trace_id"] for row in rows):
                enqueue_questions(lease=lease, embedder=ports.embedder)
            processing.finish(lease=lease, work=work)


def _told_in(lease: Lease, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the distributed traces in which memories were told, if spans are recorded."""
    if not is_recording():
        return []
    return traceparents_of(end_user_id=lease.end_user_id, trace_ids=[row["trace_id"] for row in rows])


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


def _read(end_user_id: UUID, memory_ids: Sequence[UUID]) -> list[Mapping[str, Any]]:
    return _rows(Memory.objects.for_end_user(end_user_id).filter(id__in=memory_ids).order_by("id"))


def _rows(memories: MemoryQuerySet) -> list[Mapping[str, Any]]:
    """Read what the index needs of memories, with the active configuration of their project in the same query."""
    users = Entity.objects.filter(end_user_id=OuterRef("end_user_id"), is_user=True)
    rows = memories.annotate(configuration=active_configuration("project_id"), user=Subquery(users.values("name")))
    return list(rows.values(*_FIELDS))


def indexables_of(end_user_id: UUID, memory_ids: Sequence[UUID]) -> list[Indexable]:
    """Return what the index needs of an end user's memories."""
    return _indexables(_read(end_user_id, memory_ids))


def _policy_of(rows: Sequence[Mapping[str, Any]]) -> Policy:
    """Return the policy of the project whose memories were read."""
    configuration = rows[0]["configuration"] if rows else None
    return policy_of(configuration) if configuration else Policy()


def _indexables(rows: Iterable[Mapping[str, Any]]) -> list[Indexable]:
    return [
        Indexable(
            id=row["id"],
            type=MemoryType(row["type"]),
            content=row["content"],
            subject=row["subject__name"] or "",
            predicate=row["predicate"],
            object_text=row["object_text"],
            # Of a short English quote the database may not know the language.
            foreign_quote=""
            if row["source_tongue"] == row["tongue"] or is_english(row["evidence"])
            else row["evidence"],
            user=row["user"] or "",
        )
        for row in rows
    ]


def ask_questions(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> None:
    """Ask for the questions of the oldest memories that lack them, in one call.

    The call is recorded with the trace of the first memory. Memories without a usable answer keep their templates, and
    the model is not asked about them again. Raises ModelFailed and LostLease, having written nothing.
    """
    due = without_model_questions(end_user_id=lease.end_user_id, embedder=ports.embedder)
    rows = _rows(due[:MEMORIES_PER_CALL])
    policy = _policy_of(rows)
    model = questions_model(policy, ports)
    if model is None or not rows:
        processing.finish(lease=lease, work=work)
        return
    with span("ask questions", kind=SpanKind.CONSUMER, parents=_told_in(lease, rows)):
        foreign = Memory.objects.for_end_user(lease.end_user_id).exclude(source_tongue=F("tongue"))
        latest = foreign.order_by("-id").values_list("evidence", flat=True)[:_LATEST_QUOTES]
        example = max((quote for quote in latest if not is_english(quote)), key=len, default="")
        memories, call = ask_model(_indexables(rows), model=model, policy=policy, also_writes=example)
        entries = index.run(memories, embedder=ports.embedder, policy=policy.index)
    with transaction.atomic():
        write_vectors(
            end_user_id=lease.end_user_id,
            entries=entries,
            embedder=ports.embedder,
            questions_by=call.model or "unnamed",
        )
        enqueue_questions(lease=lease, embedder=ports.embedder)
        processing.finish(lease=lease, work=work)
        recorder.record_calls(end_user_id=lease.end_user_id, trace_id=rows[0]["trace_id"], calls=[call])


BATCH = 256


def count_missing(*, embedder: Embedder) -> int:
    """Count the memories of all projects without a vector of this embedder."""
    with system_scope(SystemWork.MAINTENANCE):
        return missing(embedder=embedder).count()


def missing(*, embedder: Embedder) -> MemoryQuerySet:
    """Return the memories without a vector of this embedder, oldest first."""
    vectors = MemoryVector.objects.filter(
        end_user_id=OuterRef("end_user_id"), memory_id=OuterRef("id"), embedder=embedder.name
    )
    return Memory.objects.filter(~Exists(vectors)).order_by("id")


def reembed(*, embedder: Embedder) -> Iterator[int]:
    """Embed memories without vectors in batches; yield the size of each batch.

    An interrupted run can be continued. Memories that are written in the meantime are indexed by workers.
    """
    after = UUID(int=0)
    while True:
        following = missing(embedder=embedder).filter(id__gt=after).values_list("project_id", "end_user_id", "id")
        with system_scope(SystemWork.MAINTENANCE):
            found = list(following[:BATCH])
        if not found:
            return
        for (project_id, end_user_id), group in groupby(sorted(found), key=itemgetter(0, 1)):
            with tenant_scope(project_id=project_id, end_user_id=end_user_id):
                rows = _read(end_user_id, [memory_id for *_, memory_id in group])
                entries = index.run(_indexables(rows), embedder=embedder, policy=_policy_of(rows).index)
                write_vectors(end_user_id=end_user_id, entries=entries, embedder=embedder)
        after = found[-1][2]
        yield len(found)


def forget_other_vectors(*, embedder: Embedder) -> int:
    """Delete the vectors of all other embedders in batches; return how many were deleted."""
    others = MemoryVector.objects.exclude(embedder=embedder.name).order_by("end_user_id", "memory_id")
    deleted = 0
    while True:
        with system_scope(SystemWork.MAINTENANCE), transaction.atomic():
            rows = list(others.values_list("end_user_id", "memory_id")[:BATCH])
            for end_user_id, group in groupby(rows, key=itemgetter(0)):
                of_user = others.filter(end_user_id=end_user_id, memory_id__in=[memory_id for _, memory_id in group])
                deleted += of_user.delete()[0]
        if len(rows) < BATCH:
            return deleted
