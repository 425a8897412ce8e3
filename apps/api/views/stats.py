"""View of GET /v1/stats."""

from datetime import UTC, date, datetime, time, timedelta

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.openapi import documented
from apps.api.problems import invalid
from apps.api.schemas.stats import StatsQuery, StatsResponse, stats_response
from apps.api.validation import read_query
from apps.api.views.base import ApiView, to_json
from apps.traces.statistics import days_of

DEFAULT_DAYS, MAX_DAYS = 30, 366


class StatsView(ApiView):
    """The funnel of the project and its cost."""

    @documented(
        operation="read_stats", summary="Funnel and costs by day", query=StatsQuery, responses={200: StatsResponse}
    )
    def get(self, request: Request) -> Response:
        """Read the outcomes of the project's turns and the cost of its model calls, by day."""
        query = read_query(request, StatsQuery)
        until = query.until or timezone.now().astimezone(UTC).date()
        since = query.since or date.fromordinal(max(1, until.toordinal() - DEFAULT_DAYS + 1))
        if not 0 <= (until - since).days < MAX_DAYS:
            raise invalid(f"must span 1 to {MAX_DAYS} days", at="since")
        days = days_of(project_id=self.caller.project_id, since=_midnight(since), until=_midnight(until, after=1))
        return Response(to_json(stats_response(days, since=since, until=until)))


def _midnight(day: date, *, after: int = 0) -> datetime:
    """Return the start of a day in UTC, or of the day `after` days later; the last day of the calendar has none."""
    later = day if day == date.max else day + timedelta(days=after)
    return datetime.combine(later, time.min, tzinfo=UTC)
