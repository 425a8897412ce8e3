"""Conclude a run: close its trace, move its session's pointer and finish its work, in one statement."""

from apps.outbox import working
from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease
from apps.outbox.next_work import Work
from apps.pipeline.draft import Draft
from apps.pipeline.plan import WritePlan
from apps.traces import recorder
from apps.traces.recorder import Pointer

_CONCLUDED = f"with {recorder.STANDING}, {working.FINISHED}, {recorder.CLOSED} {working.OWED_BEHIND}"


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: Work, pointer: Pointer) -> list[Work]:
    """Conclude a run, in the transaction of its memories if it has any; return what is owed behind it.

    Raises LostLease, having written nothing.
    """
    values = {
        **recorder.closing(draft=draft, plan=plan, pointer=pointer),
        **working.finishing(lease=lease, work=[work]),
    }
    return working.owed_behind(fetch(_CONCLUDED, values), lease=lease)
