"""Run an accepted request while its caller waits, after the earlier work of the same end user."""

import time

from django.conf import settings

from apps.actions.live_ports import live
from apps.intake.accept import Accepted
from apps.outbox import leases
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.identifiers import new_id
from apps.traces.models import Trace
from apps.worker.lease_renewal import renewed_lease
from apps.worker.process_user import process_user
from apps.worker.shutdown import Deadline

POLL_SECONDS = 0.02


def run_now(*, accepted: Accepted, wait_seconds: float) -> Trace:
    """Return the trace once it has ended, or in its current state after `wait_seconds`.

    The calling process does the work itself unless a worker holds the end user's lease; then it waits for that worker.
    Work that has not started when the time is up is left to the workers.
    """
    deadline = Deadline(time.monotonic() + wait_seconds)
    trace = _read(accepted)
    while trace.status == TraceStatus.QUEUED and not deadline.is_set():
        claimed = leases.claim(token=new_id(), limit=1, seconds=settings.WORK_LEASE_SECONDS, only=accepted.end_user_id)
        for lease in claimed:
            with renewed_lease(lease):
                process_user(lease=lease, ports=live(), stop=deadline)
        if not claimed:
            time.sleep(POLL_SECONDS)  # another worker holds the lease and sends no notification when it is done
        trace = _read(accepted)
    return trace


def _read(accepted: Accepted) -> Trace:
    return Trace.objects.get(end_user_id=accepted.end_user_id, id=accepted.trace_id)
