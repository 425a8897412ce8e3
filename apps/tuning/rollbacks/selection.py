"""Which traces a rollback takes back."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.common.errors import Unfit
from apps.pipeline.core import identifiers
from apps.pipeline.core.enums import TraceStatus, values_of
from apps.tenants.models import ApiKey, EndUser
from apps.traces.models import ConfigurationVersion, Replay, ReplayedTrace, Session, Trace

# A rejected request wrote nothing; what was rolled back already is not taken back twice.
_ROLLABLE = frozenset({TraceStatus.DONE, TraceStatus.QUEUED, TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED})


@dataclass(frozen=True, slots=True)
class TraceSelection:
    """Traces that meet all conditions that are set; identifiers and times, no words of end users."""

    trace_ids: tuple[UUID, ...] = ()
    configuration_id: UUID | None = None
    api_key_id: UUID | None = None
    end_user_id: UUID | None = None
    session_id: UUID | None = None
    replay_id: UUID | None = None  # the traces of a replay
    since: datetime | None = None  # accepted at that time or later
    until: datetime | None = None  # accepted before that time

    def checked(self) -> "TraceSelection":
        """Return the selection. Raises Unfit for one that sets no condition."""
        if not any(getattr(self, each.name) for each in fields(self)):
            raise Unfit("must name at least one condition", at="/selection")
        if self.since and self.until and self.until <= self.since:
            raise Unfit("must lie after since", at="/selection/until")
        return self

    def to_json(self) -> dict[str, Any]:
        """Return the conditions that are set, as JSON."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in values.items() if value}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "TraceSelection":
        """Read a stored selection."""
        return msgspec.convert(stored, cls)

    def traces(
        self, *, project_id: UUID, before: datetime | None = None, with_rejected: bool = False
    ) -> QuerySet[Trace]:
        """Return the traces that can be rolled back; `before` excludes those accepted since.

        With `with_rejected` also those that wrote nothing, as another configuration may keep their turns. Traces that
        have read the turns of chosen ones again are chosen as well.
        """
        statuses = _ROLLABLE | {TraceStatus.REJECTED} if with_rejected else _ROLLABLE
        conditions = Q(project_id=project_id, status__in=values_of(statuses))
        for name in ("configuration_id", "api_key_id", "end_user_id", "session_id"):
            if value := getattr(self, name):
                conditions &= Q(**{name: value})
        if self.trace_ids:
            conditions &= Q(id__in=self.trace_ids)
        if self.replay_id:
            conditions &= Q(id__in=ReplayedTrace.objects.filter(replay_id=self.replay_id).values("trace_id"))
        if self.since:
            conditions &= Q(created_at__gte=self.since)
        ends = [each for each in (self.until, before) if each]
        if ends:
            conditions &= Q(created_at__lt=min(ends))
        read = Trace.objects.filter(
            conditions,
            end_user_id=OuterRef("end_user_id"),
            session_id=OuterRef("session_id"),
            created_at__lte=OuterRef("created_at"),
        )
        readings = Q(Exists(read), project_id=project_id, reads_again=True, status__in=values_of(_ROLLABLE))
        if before:
            readings &= Q(created_at__lt=before)
        return Trace.objects.filter(conditions | readings)


MOST_TRACES = 10_000  # named one by one


def named_selection(
    *,
    project_id: UUID,
    trace_ids: Sequence[UUID] = (),
    version: int | None = None,
    api_key_id: UUID | None = None,
    user_id: str = "",
    session_id: str = "",
    replay_id: UUID | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> TraceSelection:
    """Return the selection. Raises Unfit for a version, key, user, session or replay that the project does not have."""
    if len(trace_ids) > MOST_TRACES:
        raise Unfit(f"at most {MOST_TRACES:,}; name the rest by user or time", at="/selection/trace_ids")
    if api_key_id and not ApiKey.objects.filter(project_id=project_id, id=api_key_id).exists():
        raise Unfit("is no key of this project", at="/selection/key_id")
    if replay_id and not Replay.objects.filter(project_id=project_id, id=replay_id).exists():
        raise Unfit("is no replay of this project", at="/selection/replay_id")
    end_user_id = _end_user(project_id, user_id) if user_id else None
    return TraceSelection(
        trace_ids=tuple(trace_ids),
        configuration_id=_configuration(project_id, version) if version else None,
        api_key_id=api_key_id,
        end_user_id=end_user_id,
        session_id=_session(end_user_id, session_id) if session_id else None,
        replay_id=replay_id,
        since=since,
        until=until,
    ).checked()


def _end_user(project_id: UUID, user_id: str) -> UUID:
    derived = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    if not EndUser.objects.filter(id=derived, project_id=project_id).exists():
        raise Unfit("is no end user of this project", at="/selection/user_id")
    return derived


def _session(end_user_id: UUID | None, session_id: str) -> UUID:
    if end_user_id is None:
        raise Unfit("is needed to name a session", at="/selection/user_id")
    derived = identifiers.session_id(end_user_id=end_user_id, session_id=session_id)
    if not Session.objects.filter(id=derived, end_user_id=end_user_id).exists():
        raise Unfit("is no session of this end user", at="/selection/session_id")
    return derived


def _configuration(project_id: UUID, version: int) -> UUID:
    found = ConfigurationVersion.objects.filter(project_id=project_id, number=version).values_list("id", flat=True)
    if (configuration_id := found.first()) is None:
        raise Unfit("is no version of this project", at="/selection/version")
    return configuration_id
