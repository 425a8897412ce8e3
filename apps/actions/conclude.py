"""Conclude a run: close its trace, note how far a look back came and finish its work, in one statement."""

from apps.outbox import working
from apps.outbox.fetch import fetch
from apps.outbox.leases import Lease
from apps.outbox.next_work import Work
from apps.pipeline.draft import Draft
from apps.pipeline.plan import WritePlan
from apps.pipeline.vocabulary import WorkKind
from apps.traces import recorder

_CONCLUDED = f"with {recorder.STANDING}, {working.FINISHED}, {recorder.CLOSED} {working.OWED_BEHIND}"


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: Work) -> list[Work]:
    """Conclude a run, in the transaction of its memories if it has any; return what is owed behind it.

    Raises LostLease, having written nothing.
    """
    values = {
        **recorder.closing(draft=draft, plan=plan, is_look_back=work.kind is WorkKind.EXTRACT_SESSION),
        **working.finishing(lease=lease, work=[work]),
    }
    return working.owed_behind(fetch(_CONCLUDED, values), lease=lease)
