"""Run the look back on a session: extract, settle and commit, and note how far it looked."""

from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline import flow
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Ports
from apps.traces.drafts import load_session_draft
from apps.worker.conclude import conclude
from apps.worker.run_traces import settle_and_commit


def run_session(*, lease: Lease, work: NextWork, ports: Ports) -> list[NextWork]:
    """Run one look back and return what is owed behind it; it ends at once where no turn is new since the last one.

    Raises what run_traces raises.
    """
    draft = load_session_draft(end_user_id=lease.end_user_id, trace_id=work.subject_id)
    if draft.turns:
        draft = flow.extract_session(draft, ports)
        return settle_and_commit(draft, lease=lease, work=work, ports=ports)
    return conclude(draft=draft, plan=WritePlan(), lease=lease, work=work)
