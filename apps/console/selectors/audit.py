"""The ledger by actor, act, time and end user."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from apps.memories.models import LedgerEntry
from apps.pipeline.core.identifiers import end_user_id


@dataclass(frozen=True, slots=True)
class AuditSearch:
    """Filters of the ledger; an empty one does not restrict the result."""

    actor: str = ""  # how it begins, such as "person:" or "key:0192…"
    verb: str = ""
    user: str = ""  # user_id in the API; finds erased end users as well
    since: datetime | None = None
    until: datetime | None = None


def search_ledger(*, project_id: UUID, search: AuditSearch) -> QuerySet[LedgerEntry]:
    """Return the entries of a project that match, newest first."""
    rows = LedgerEntry.objects.filter(project_id=project_id)
    if search.actor:
        rows = rows.filter(actor__startswith=search.actor)
    if search.verb:
        rows = rows.filter(verb=search.verb)
    if search.user:
        rows = rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=search.user))
    if search.since:
        rows = rows.filter(created_at__gte=search.since)
    if search.until:
        rows = rows.filter(created_at__lt=search.until)
    return rows.order_by("-id")
