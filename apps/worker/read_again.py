"""Read a session again with a model: its statements replace the notes of their messages."""

from dataclasses import replace

from opentelemetry.trace import SpanKind

from apps.memories.reading.postgres_reader import PostgresMemoryReader, notes_of_session, retracted_turns
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import ExtractorKind, OnModelFailure
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Ports
from apps.telemetry.tracing import span
from apps.traces.drafts import load_reading_draft
from apps.worker.run_traces import conclude, settle_and_commit


def read_again(*, lease: Lease, work: NextWork, ports: Ports) -> bool:
    """Read one session again; return False if it is put back.

    It is concluded at once where no note is left. Raises what run_traces raises.
    """
    draft = _by_model_alone(load_reading_draft(end_user_id=lease.end_user_id, trace_id=work.subject_id))
    session = {"end_user_id": lease.end_user_id, "session_id": draft.request.origin.session_id}
    retracted = retracted_turns(**session)
    turns = tuple(turn for turn in draft.turns if turn.id not in retracted)
    read = {turn.id for turn in turns}
    notes = tuple(each for each in notes_of_session(**session) if each[0] in read)
    if not notes:
        conclude(draft=draft, plan=WritePlan(), lease=lease, work=work)
        return True
    reading = replace(ports, memories=PostgresMemoryReader(notes=[note for _, note in notes]))
    with span("read again", kind=SpanKind.CONSUMER, parents=[draft.request.traceparent]):
        (extracted,) = flow.extract([draft.evolve(turns=turns, notes=notes)], reading)
        return settle_and_commit(extracted, lease=lease, work=work, ports=reading)


def _by_model_alone(draft: Draft) -> Draft:
    """Return a draft that the plain extractor, which has read it already, does not read; a failure is tried again."""
    alone = {"extractor": ExtractorKind.MODEL, "on_model_failure": OnModelFailure.RETRY}
    extraction = draft.policy.extraction.model_copy(update=alone)
    return draft.evolve(policy=draft.policy.model_copy(update={"extraction": extraction}))
