"""Run the pipeline over accepted traces of one session: extract together, then settle and commit one by one."""

from collections.abc import Callable, Sequence

from django.db import transaction

from apps.outbox import working
from apps.outbox.leases import Lease
from apps.outbox.next_work import Work
from apps.pipeline import flow
from apps.pipeline.draft import Draft
from apps.pipeline.plan import WritePlan, plan_from
from apps.pipeline.ports import Ports, StalePlan
from apps.traces import recorder
from apps.traces.drafts import load_drafts

Move = Callable[..., None]  # of a session's pointer, in the transaction of the memories
MOST_PLANS = 3  # a person may change a memory while a plan is made from it; three times in a row is a fault


def run_traces(*, lease: Lease, work: Sequence[Work], ports: Ports) -> None:
    """Run the traces that the work names, in its order; each is committed by itself.

    1. Load them and extract from all their turns together. 2. Plan each on what the one before it has left.
    3. Apply its plan, finish its work and close its trace in one transaction, in the queue's order of locks.
    Raises ModelFailed, leases.LostLease when another worker has taken over, StalePlan when plans went stale again and
    again; nothing of that trace is written then.
    """
    drafts = load_drafts(end_user_id=lease.end_user_id, trace_ids=[each.subject_id for each in work])
    for each, extracted in zip(work, flow.extract(drafts, ports), strict=True):
        settle_and_commit(extracted, lease=lease, work=each, ports=ports, move=recorder.move_session)


def settle_and_commit(extracted: Draft, *, lease: Lease, work: Work, ports: Ports, move: Move) -> None:
    """Plan a draft on what is known now and commit it with its pointer, again where the plan went stale meanwhile."""
    if extracted.failure:
        _give_up(extracted, lease=lease, work=work, move=move)
        return
    for attempt in range(1, MOST_PLANS + 1):
        settled = flow.settle(extracted, ports)
        try:
            _commit(settled, lease=lease, work=work, ports=ports, move=move)
        except StalePlan:
            if attempt == MOST_PLANS:
                raise
            extracted = extracted.evolve(model_calls=settled.model_calls)  # a judge that was asked is paid, and counts
        else:
            return


def _commit(settled: Draft, *, lease: Lease, work: Work, ports: Ports, move: Move) -> None:
    plan = plan_from(settled)
    with transaction.atomic():
        move(draft=settled)
        written = flow.persist_plan(settled, plan, ports)
        working.finish(lease=lease, work=[work])
        recorder.finish_trace(draft=written, plan=plan)


def _give_up(failed: Draft, *, lease: Lease, work: Work, move: Move) -> None:
    """Close a trace whose answers could not be used; another attempt would cost the same and say no more."""
    with transaction.atomic():
        move(draft=failed)
        working.finish(lease=lease, work=[work])
        recorder.finish_trace(draft=failed, plan=WritePlan())
