"""GET /v1/stats."""

from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.openapi import documented
from apps.api.problems import invalid
from apps.api.reading import read_query
from apps.api.schemas.stats import StatsAnswer, StatsQuery, stats_answer
from apps.api.views.base import ApiView, plain
from apps.traces.statistics import days_of

USUAL_DAYS, MOST_DAYS = 30, 366


class StatsView(ApiView):
    """What the project's funnel did and cost."""

    @documented(operation="read_stats", summary="Funnel and costs by day", query=StatsQuery, answers={200: StatsAnswer})
    def get(self, request: Request) -> Response:
        """Read what became of the project's turns and what its model calls cost, day by day."""
        query = read_query(request, StatsQuery)
        until = query.until or timezone.now().astimezone(UTC).date()
        since = query.since or date.fromordinal(max(1, until.toordinal() - USUAL_DAYS + 1))
        if not 0 <= (until - since).days < MOST_DAYS:
            raise invalid(f"must span 1 to {MOST_DAYS} days", at="since")
        days = days_of(project_id=self.caller.project_id, since=_midnight(since), until=_midnight(until, after=1))
        return Response(plain(stats_answer(days, since=since, until=until)))


def _midnight(day: date, *, after: int = 0) -> datetime:
    """Return the start of a day in UTC, or of a later one; the calendar's last day has no morrow."""
    later = day if day == date.max else day + timedelta(days=after)
    return datetime.combine(later, time.min, tzinfo=UTC)
