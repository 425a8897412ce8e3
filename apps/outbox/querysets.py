"""How far the outbox is behind."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet

from apps.pipeline.core.enums import WorkKind, WorkState


@dataclass(frozen=True, slots=True)
class Backlog:
    """When the oldest open work of a kind was owed (None: nothing is open), and how many rows are dead."""

    oldest: datetime | None
    oldest_index: datetime | None
    dead: int


class OutboxRowQuerySet(QuerySet["OutboxRow"]):  # type: ignore[name-defined]  # models import this file
    """Outbox rows by where they stand."""

    def open(self) -> "OutboxRowQuerySet":
        """Keep what is still to be done."""
        return self.filter(state__in=[WorkState.PENDING, WorkState.RUNNING])

    def dead(self) -> "OutboxRowQuerySet":
        """Keep what was given up."""
        return self.filter(state=WorkState.DEAD)

    def backlog(self) -> Backlog:
        """Summarise what is open and what is dead, each read from its own partial index."""
        oldest = self.open().aggregate(
            oldest=Min("created_at"), oldest_index=Min("created_at", filter=Q(kind=WorkKind.INDEX_MEMORY))
        )
        return Backlog(**oldest, dead=self.dead().count())

    def owed_by_kind(self) -> dict[str, int]:
        """Count what is open, by kind."""
        counted = self.open().order_by().values_list("kind").annotate(rows=Count("id"))
        return dict(counted)
