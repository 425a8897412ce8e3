"""Ask the model for questions that memories answer, and index them instead of those of the templates."""

from collections.abc import Sequence

from django.db import transaction
from opentelemetry.trace import SpanKind

from apps.actions.memories.index_memories import (
    indexables,
    policy_of_rows,
    read_rows,
    traceparents_of_rows,
    write_vectors,
)
from apps.actions.memories.questions_due import enqueue_questions, without_model_questions
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.ports import Ports
from apps.pipeline.indexing import index
from apps.pipeline.indexing.model_questions import MEMORIES_PER_CALL, ask_model, questions_model
from apps.telemetry.tracing import span
from apps.traces import recorder


def ask_questions(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> None:
    """Ask for the questions of the oldest memories that lack them, in one call.

    The call is recorded with the trace of the first memory. Memories without a usable answer keep their templates, and
    the model is not asked about them again. Raises ModelFailed and LostLease, having written nothing.
    """
    due = without_model_questions(end_user_id=lease.end_user_id, embedder=ports.embedder)
    rows = read_rows(due[:MEMORIES_PER_CALL])
    policy = policy_of_rows(rows)
    model = questions_model(policy, ports)
    if model is None or not rows:
        processing.finish(lease=lease, work=work)
        return
    with span("ask questions", kind=SpanKind.CONSUMER, parents=traceparents_of_rows(lease, rows)):
        asked = ask_model(indexables(rows), model=model, policy=policy)
        entries = index.run(asked.memories, embedder=ports.embedder, policy=policy.index)
    with transaction.atomic():
        write_vectors(
            end_user_id=lease.end_user_id,
            entries=entries,
            embedder=ports.embedder,
            questions_by=asked.call.model or "unnamed",
        )
        enqueue_questions(lease=lease, embedder=ports.embedder)
        processing.finish(lease=lease, work=work)
        recorder.record_calls(end_user_id=lease.end_user_id, trace_id=rows[0]["trace_id"], calls=[asked.call])
