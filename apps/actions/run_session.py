"""Run the look back on a session: extract, settle and commit, its pointer moved with its memories."""

from django.db import transaction

from apps.actions.run_traces import settle_and_commit
from apps.outbox import working
from apps.outbox.leases import Lease
from apps.outbox.next_work import Work
from apps.pipeline import flow
from apps.pipeline.plan import WritePlan
from apps.pipeline.ports import Ports
from apps.traces import recorder
from apps.traces.drafts import load_session_draft


def run_session(*, lease: Lease, work: Work, ports: Ports) -> None:
    """Run one look back; without a turn that is new since the last one it ends at once.

    Raises what run_traces raises.
    """
    draft = load_session_draft(end_user_id=lease.end_user_id, trace_id=work.subject_id)
    if draft.turns:
        extracted = flow.extract_session(draft, ports)
        settle_and_commit(extracted, lease=lease, work=work, ports=ports, move=recorder.move_look_back)
        return
    with transaction.atomic():
        working.finish(lease=lease, work=[work])
        recorder.finish_trace(draft=draft, plan=WritePlan())
