"""Run the pipeline over accepted traces of one session: extract together, then settle and commit one by one."""

from collections.abc import Sequence
from contextlib import suppress

from django.db import transaction
from opentelemetry.trace import SpanKind

from apps.memories.write_conflicts import stale_on_write_conflict
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.model_calls import AnswerKind, unusable
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.ports import Ports, StalePlan
from apps.telemetry.tracing import span
from apps.traces import recorder
from apps.traces.drafts import load_drafts
from apps.worker import failures
from apps.worker.conclude import conclude

UNREADABLE = unusable(AnswerKind.UNPARSABLE)
MOST_RUNS_UNREADABLE = 2  # whose answers can't be read, before a person has to ask for another
MOST_PLANS = 3  # a reviewer may change a memory while a plan is made; three times in a row indicates a defect


def run_traces(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> list[NextWork]:
    """Run the traces of the given work in order, and commit each separately; return the user's remaining open work.

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
    remaining: list[NextWork] = []
    for each, draft in zip(work, extracted, strict=True):
        with span("settle trace", kind=SpanKind.CONSUMER, parents=[draft.request.traceparent]) as opened:
            opened.set_attribute("memplatform.trace", show(Prefix.TRACE, draft.request.trace_id))
            remaining = settle_and_commit(draft, lease=lease, work=each, ports=ports)
    return remaining


def settle_and_commit(extracted: Draft, *, lease: Lease, work: NextWork, ports: Ports) -> list[NextWork]:
    """Plan a draft on the current memories and commit it; plan again where another writer made the plan stale.

    A draft whose model answers were unreadable is run once more later, and then concluded as failed: further runs would
    cost the same and are unlikely to help, and a refusal stays one.
    """
    if extracted.failure == UNREADABLE and work.attempts < MOST_RUNS_UNREADABLE:
        failures.run_once_more(lease, work, error=extracted.failure, calls=extracted.model_calls)
        return []
    if extracted.failure:
        return conclude(draft=extracted, plan=WritePlan(), lease=lease, work=work)
    for _ in range(MOST_PLANS - 1):
        settled = flow.settle(extracted, ports)
        with suppress(StalePlan):
            return _commit(settled, lease=lease, work=work, ports=ports)
        extracted = extracted.evolve(model_calls=settled.model_calls)  # keep the judge's calls: they have cost money
    return _commit(flow.settle(extracted, ports), lease=lease, work=work, ports=ports)


def _commit(settled: Draft, *, lease: Lease, work: NextWork, ports: Ports) -> list[NextWork]:
    """Apply a plan and conclude the run in one transaction; a plan without operations needs a single statement."""
    plan = plan_from(settled)
    if not plan.operations:
        written = flow.persist_plan(settled, plan, ports)
        return conclude(draft=written, plan=plan, lease=lease, work=work)
    with stale_on_write_conflict(), transaction.atomic():
        recorder.lock_session(draft=settled)
        written = flow.persist_plan(settled, plan, ports)
        return conclude(draft=written, plan=plan, lease=lease, work=work)
