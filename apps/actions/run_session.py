"""Run the look back on a session: extract, settle and commit, and note how far it looked."""

from apps.actions.conclude import conclude
from apps.actions.run_traces import settle_and_commit
from apps.outbox.leases import Lease
from apps.outbox.next_work import Work
from apps.pipeline import flow
from apps.pipeline.plan import WritePlan
from apps.pipeline.ports import Ports
from apps.traces.drafts import load_session_draft


def run_session(*, lease: Lease, work: Work, ports: Ports) -> list[Work]:
    """Run one look back and return what is owed behind it; it ends at once where no turn is new since the last one.

    Raises what run_traces raises.
    """
    draft = load_session_draft(end_user_id=lease.end_user_id, trace_id=work.subject_id)
    if draft.turns:
        draft = flow.extract_session(draft, ports)
        return settle_and_commit(draft, lease=lease, work=work, ports=ports)
    return conclude(draft=draft, plan=WritePlan(), lease=lease, work=work)
