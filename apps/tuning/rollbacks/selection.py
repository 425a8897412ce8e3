"""Which traces a rollback takes back."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Exists, OuterRef, Q, QuerySet

from apps.common.errors import Unfit
from apps.memories.models import Rollback
from apps.pipeline.core import identifiers
from apps.pipeline.core.enums import TraceStatus, values_of
from apps.tenants.models import ApiKey, EndUser
from apps.traces.models import ConfigurationVersion, Replay, ReplayedTrace, Session, Trace

# A rejected request wrote nothing; what was rolled back already is not taken back twice.
_ROLLABLE = frozenset({TraceStatus.DONE, TraceStatus.QUEUED, TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED})
_LOOKUPS = {
    "trace_ids": "id__in",
    "configuration_id": "configuration_id",
    "api_key_id": "api_key_id",
    "end_user_id": "end_user_id",
    "session_id": "session_id",
    "since": "created_at__gte",
    "until": "created_at__lt",
}


def selected_traces(rollback: Rollback) -> QuerySet[Trace]:
    """Return the traces that meet all conditions of a rollback's selection and were accepted before it was asked for.

    With `rerun` also those that wrote nothing, as another configuration may keep their turns. Traces that have read
    the turns of chosen ones again are chosen as well. Raises Unfit for a selection without a condition, which would
    mean the whole project.
    """
    given = rollback.selection
    if given.keys().isdisjoint((*_LOOKUPS, "replay_id")):
        raise Unfit("must name at least one condition", at="/selection")
    of_project = Q(project_id=rollback.project_id, created_at__lt=rollback.created_at)
    chosen = of_project & Q(status__in=values_of(_ROLLABLE | ({TraceStatus.REJECTED} if rollback.rerun else set())))
    for name, lookup in _LOOKUPS.items():
        if name in given:
            chosen &= Q(**{lookup: given[name]})
    if "replay_id" in given:
        chosen &= Q(id__in=ReplayedTrace.objects.filter(replay_id=given["replay_id"]).values("trace_id"))
    read = Trace.objects.filter(
        chosen,
        end_user_id=OuterRef("end_user_id"),
        session_id=OuterRef("session_id"),
        created_at__lte=OuterRef("created_at"),
    )
    readings = of_project & Q(Exists(read), reads_again=True, status__in=values_of(_ROLLABLE))
    return Trace.objects.filter(chosen | readings)


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
) -> dict[str, Any]:
    """Return the conditions that are set, as a rollback stores them: identifiers and times, no words of end users.

    Raises Unfit without a condition, or for a version, key, user, session or replay that the project does not have.
    """
    if len(trace_ids) > MOST_TRACES:
        raise Unfit(f"at most {MOST_TRACES:,}; name the rest by user or time", at="/selection/trace_ids")
    if session_id and not user_id:
        raise Unfit("is needed to name a session", at="/selection/user_id")
    user = identifiers.end_user_id(project_id=project_id, user_id=user_id)
    session = identifiers.session_id(end_user_id=user, session_id=session_id)
    mine = {"project_id": project_id}
    selection = {
        "trace_ids": [str(each) for each in trace_ids],
        "api_key_id": api_key_id and _known("key", ApiKey.objects.filter(**mine, id=api_key_id), at="key_id"),
        "replay_id": replay_id and _known("replay", Replay.objects.filter(**mine, id=replay_id), at="replay_id"),
        "end_user_id": user_id and _known("end user", EndUser.objects.filter(**mine, id=user), at="user_id"),
        "configuration_id": version
        and _known("version", ConfigurationVersion.objects.filter(**mine, number=version), at="version"),
        "session_id": session_id
        and _known("session", Session.objects.filter(end_user_id=user, id=session), at="session_id", of="end user"),
        "since": msgspec.to_builtins(since),
        "until": msgspec.to_builtins(until),
    }
    selection = {name: value for name, value in selection.items() if value}
    if not selection:
        raise Unfit("must name at least one condition", at="/selection")
    if since and until and until <= since:
        raise Unfit("must lie after since", at="/selection/until")
    return selection


def _known(what: str, rows: QuerySet[Any], *, at: str, of: str = "project") -> str:
    found = rows.values_list("id", flat=True).first()
    if found is None:
        raise Unfit(f"is no {what} of this {of}", at=f"/selection/{at}")
    return str(found)
