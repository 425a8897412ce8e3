"""Conclude a run: mark its work as done, close its trace, and record what it did."""

from django.db import transaction

from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.plan import WritePlan
from apps.telemetry.metrics import count_stages
from apps.traces import recorder
from apps.traces.models import Session


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
