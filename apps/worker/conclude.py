"""Conclude a run: close its trace, note how far a look back came and finish its work, in one statement."""

from apps.outbox import processing
from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.plan import WritePlan
from apps.traces import recorder

_CONCLUDED = f"with {recorder.STANDING}, {processing.FINISHED}, {recorder.CLOSED} {processing.OWED_BEHIND}"


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: NextWork) -> list[NextWork]:
    """Conclude a run, in the transaction of its memories if it has any; return what is owed behind it.

    Raises LostLease, having written nothing.
    """
    values = {
        **recorder.closing(draft=draft, plan=plan, is_look_back=work.kind is WorkKind.EXTRACT_SESSION),
        **processing.finishing(lease=lease, work=[work]),
    }
    return processing.owed_behind(fetch(_CONCLUDED, values), lease=lease)
