"""Run the pipeline over accepted traces of one session: extract together, then settle and commit one by one."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from django.db import transaction
from opentelemetry.trace import SpanKind

from apps.memories.reading.postgres_reader import PostgresMemoryReader, notes_of_session, retracted_turns
from apps.memories.write_conflicts import stale_on_write_conflict
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.processing import NextWork
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import ExtractorKind, OnModelFailure, WorkKind
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.model_calls import AnswerKind, unusable
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.ports import Ports, StalePlan
from apps.telemetry.metrics import count_stages
from apps.telemetry.tracing import span
from apps.tenants.end_users import wait_for_writers
from apps.traces import recorder
from apps.traces.drafts import load_drafts, load_reading_draft, load_session_draft, was_seen_whole
from apps.traces.models import Session
from apps.worker import failures


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: NextWork) -> None:
    """Conclude a run in the caller's transaction, if there is one.

    Raises LostLease and writes nothing where another worker holds the lease.
    """
    with transaction.atomic(savepoint=False):
        session = Session.objects.filter(id=draft.request.origin.session_id)
        list(session.select_for_update(no_key=True).values_list("id"))
        processing.finish(lease=lease, work=[work])
        recorder.close_trace(draft=draft, plan=plan, is_session_level=work.kind is WorkKind.EXTRACT_SESSION)
    count_stages(draft.spans)


UNREADABLE = unusable(AnswerKind.UNPARSABLE)
MOST_RUNS_UNREADABLE = 2  # whose answers can't be read, before a person has to ask for another
MOST_PLANS = 3  # a reviewer may change a memory while a plan is made; three times in a row indicates a defect


def run_traces(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> bool:
    """Run the traces of the given work in order, and commit each separately; return False if some are put back.

    1. Load the traces and extract from all their turns together.
    2. Plan each trace on the state that the previous one has committed.
    3. Apply the plan, mark the work as done and close the trace in one transaction.
    Raises ModelFailed, LostLease when another worker has taken over, and StalePlan when MOST_PLANS plans in a row were
    stale; then nothing of that trace is written.
    """
    drafts = load_drafts(end_user_id=lease.end_user_id, trace_ids=[each.subject_id for each in work])
    parents = [draft.request.traceparent for draft in drafts]
    with span("extract traces", kind=SpanKind.CONSUMER, parents=parents):
        extracted = flow.extract(drafts, ports)
    is_all_done = True
    for each, draft in zip(work, extracted, strict=True):
        with span("settle trace", kind=SpanKind.CONSUMER, parents=[draft.request.traceparent]) as opened:
            opened.set_attribute("memplatform.trace", show(Prefix.TRACE, draft.request.trace_id))
            is_all_done &= settle_and_commit(draft, lease=lease, work=each, ports=ports)
    return is_all_done


def settle_and_commit(extracted: Draft, *, lease: Lease, work: NextWork, ports: Ports) -> bool:
    """Plan a draft on the current memories and commit it; plan again where another writer made the plan stale.

    Return False if it is put back: a draft whose model answers were unreadable is run once more later, and then
    concluded as failed. Further runs would cost the same and are unlikely to help, and a refusal stays one.
    """
    if extracted.failure == UNREADABLE and work.attempts < MOST_RUNS_UNREADABLE:
        failures.run_once_more(lease, work, error=extracted.failure, calls=extracted.model_calls)
        return False
    if extracted.failure:
        conclude(draft=extracted, plan=WritePlan(), lease=lease, work=work)
        return True
    for _ in range(MOST_PLANS - 1):
        settled = flow.settle(extracted, ports)
        with suppress(StalePlan):
            _commit(settled, lease=lease, work=work, ports=ports)
            return True
        extracted = extracted.evolve(model_calls=settled.model_calls)  # keep the judge's calls: they have cost money
    _commit(flow.settle(extracted, ports), lease=lease, work=work, ports=ports)
    return True


def _commit(settled: Draft, *, lease: Lease, work: NextWork, ports: Ports) -> None:
    """Apply a plan and conclude the run in one transaction."""
    plan = plan_from(settled)
    with stale_on_write_conflict(), transaction.atomic():
        if plan.operations:
            wait_for_writers(settled.request.origin.end_user_id)
        written = flow.persist_plan(settled, plan, ports)
        conclude(draft=written, plan=plan, lease=lease, work=work)


def run_session(*, lease: Lease, work: NextWork, ports: Ports) -> bool:
    """Run one session-level extraction; return False if it is put back.

    It is concluded at once without new turns since the last one, and usually where one call has seen all of them.
    Raises what run_traces raises.
    """
    draft = load_session_draft(end_user_id=lease.end_user_id, trace_id=work.subject_id)
    if draft.turns and (draft.policy.extraction.review_seen_sessions or not was_seen_whole(draft)):
        with span("extract session", kind=SpanKind.CONSUMER, parents=[draft.request.traceparent]):
            draft = flow.extract_session(draft, ports)
            return settle_and_commit(draft, lease=lease, work=work, ports=ports)
    conclude(draft=draft, plan=WritePlan(), lease=lease, work=work)
    return True


def read_again(*, lease: Lease, work: NextWork, ports: Ports) -> bool:
    """Read one session again; return False if it is put back.

    It is concluded at once where no note is left. Raises what run_traces raises.
    """
    draft = load_reading_draft(end_user_id=lease.end_user_id, trace_id=work.subject_id)
    # The plain extractor has read it already; a failure of the model is tried again.
    alone = {"extractor": ExtractorKind.MODEL, "on_model_failure": OnModelFailure.RETRY}
    extraction = draft.policy.extraction.model_copy(update=alone)
    draft = draft.evolve(policy=draft.policy.model_copy(update={"extraction": extraction}))
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
