"""Run the session-level extraction: extract from all new turns of a session, then settle and commit."""

from opentelemetry.trace import SpanKind

from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline import flow
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import Ports
from apps.telemetry.tracing import span
from apps.traces.drafts import load_session_draft, was_seen_whole
from apps.worker.conclude import conclude
from apps.worker.run_traces import settle_and_commit


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
