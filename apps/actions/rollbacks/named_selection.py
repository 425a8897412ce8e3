"""A selection of traces as callers name it: version by its number, user and session by the caller's own identifiers."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from apps.actions.errors import Unfit
from apps.actions.rollbacks.selection import TraceSelection
from apps.pipeline.core import identifiers
from apps.tenants.models import ApiKey, EndUser
from apps.traces.models import ConfigurationVersion, Replay, Session

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
