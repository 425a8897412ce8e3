"""Cancel queued work whose subject is taken back."""

from collections.abc import Sequence
from uuid import UUID

from apps.outbox.fetch import fetch
from apps.pipeline.core.enums import WorkKind

_CANCEL = """
update outbox_outboxrow set state = 'done', finished_at = now(), last_error = '', waiting_since = null
where end_user_id = %(end_user)s and kind = any(%(kinds)s) and subject_id = any(%(subjects)s) and state <> 'done'
returning 1
"""


def cancel(*, end_user_id: UUID, kinds: Sequence[WorkKind], subject_ids: Sequence[UUID]) -> int:
    """Mark open and dead rows as done; return how many.

    The caller has interrupted the end user's lease in this transaction, so that no worker is processing them.
    """
    values = {
        "end_user": end_user_id,
        "kinds": [kind.value for kind in kinds],
        "subjects": list(subject_ids),
    }
    return len(fetch(_CANCEL, values))
