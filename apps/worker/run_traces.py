"""Run the pipeline over accepted traces of one session: extract together, then settle and commit one by one."""

from collections.abc import Sequence
from contextlib import suppress

from django.db import transaction

from apps.memories.sql_pipeline import pipelined
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.ports import Ports, StalePlan
from apps.traces import recorder
from apps.traces.drafts import load_drafts
from apps.worker.conclude import conclude

MOST_PLANS = 3  # a person may change a memory while a plan is made from it; three times in a row is a fault


def run_traces(*, lease: Lease, work: Sequence[NextWork], ports: Ports) -> list[NextWork]:
    """Run the traces that the work names, in its order, each committed by itself; return what is owed behind them.

    1. Load them and extract from all their turns together. 2. Plan each on what the one before it has left.
    3. Apply its plan, finish its work and close its trace in one transaction, in the outbox's order of locks.
    Raises ModelFailed, LostLease when another worker has taken over, StalePlan when plans went stale again and
    again; nothing of that trace is written then.
    """
    drafts = load_drafts(end_user_id=lease.end_user_id, trace_ids=[each.subject_id for each in work])
    owed: list[NextWork] = []
    for each, extracted in zip(work, flow.extract(drafts, ports), strict=True):
        owed = settle_and_commit(extracted, lease=lease, work=each, ports=ports)
    return owed


def settle_and_commit(extracted: Draft, *, lease: Lease, work: NextWork, ports: Ports) -> list[NextWork]:
    """Plan a draft on what is known now and commit it, again where the plan went stale meanwhile.

    A draft whose answers could not be used is closed: another attempt would cost the same and say no more.
    """
    if extracted.failure:
        return conclude(draft=extracted, plan=WritePlan(), lease=lease, work=work)
    for _ in range(MOST_PLANS - 1):
        settled = flow.settle(extracted, ports)
        with suppress(StalePlan):
            return _commit(settled, lease=lease, work=work, ports=ports)
        extracted = extracted.evolve(model_calls=settled.model_calls)  # a judge that was asked is paid, and counts
    return _commit(flow.settle(extracted, ports), lease=lease, work=work, ports=ports)


def _commit(settled: Draft, *, lease: Lease, work: NextWork, ports: Ports) -> list[NextWork]:
    """Apply a plan and conclude the run in one transaction; without operations one statement is all of it."""
    plan = plan_from(settled)
    if not plan.operations:
        written = flow.persist_plan(settled, plan, ports)
        return conclude(draft=written, plan=plan, lease=lease, work=work)
    with transaction.atomic(), pipelined():
        recorder.hold_session(draft=settled)
        written = flow.persist_plan(settled, plan, ports)
        return conclude(draft=written, plan=plan, lease=lease, work=work)
