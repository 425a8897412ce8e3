"""Schemas of /v1/rollbacks."""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from apps.actions.rollbacks.requests import PreviewedMemory, RollbackPreview
from apps.actions.rollbacks.running import RollbackProgress, ShownKept
from apps.api.schemas.actors import ActorResponse, actor_response, actor_response_or_none
from apps.api.schemas.common import DayEnd, DayStart, Identifier, Moment, RequestBody, ResponseBody
from apps.memories.models import Rollback
from apps.pipeline.core.enums import LeftAlone, RollbackState, Status
from apps.pipeline.core.identifiers import Prefix, show

MOST_FORCED = 1_000


class SelectionBody(RequestBody):
    """Which traces to take back: those that meet all conditions given, at least one.

    `trace_ids` (trc_…), `key_id` (key_…) and `replay_id` (rpl_…, the traces of a replay) are identifiers as answers
    give them; `version` is the number of a configuration version; a session is named together with its user; `since`
    is included, `until` is not.
    """

    trace_ids: tuple[Identifier, ...] = ()
    version: Annotated[int, Meta(ge=1)] | None = None
    key_id: Identifier | None = None
    user_id: Identifier | None = None
    session_id: Identifier | None = None
    replay_id: Identifier | None = None
    since: DayStart | None = None
    until: DayEnd | None = None


class RollbackBody(RequestBody):
    """A rollback; unless `dry_run` is false, nothing is written.

    `force` names memories that are taken back although they were edited since. With `rerun` the traces are then run
    again under the active configuration, and so are traces of which every turn was rejected.
    """

    selection: SelectionBody
    dry_run: bool = True
    force: Annotated[tuple[Identifier, ...], Meta(max_length=MOST_FORCED)] = ()
    rerun: bool = False
    note: Annotated[str, Meta(max_length=255)] = ""


class ChangedMemoryResponse(ResponseBody):
    """A memory that a rollback would change: its status now and then, and the names of the fields that change."""

    memory_id: str
    user_id: str
    content: str
    status: Status
    becomes: Status
    fields: list[str]


class LeftAloneResponse(ResponseBody):
    """A memory that is left alone, as a whole or in part; `force` takes it back all the same if `can_be_forced`.

    With the reason `repeated`, `trace_id` names a trace instead: its turn was rejected because it repeats one that is
    taken back.
    """

    reason: LeftAlone
    can_be_forced: bool
    user_id: str
    memory_id: str | None
    content: str
    status: Status | None
    trace_id: str | None


class RollbackPreviewResponse(ResponseBody):
    """What a rollback would do. Of many end users, counts and memories are those of the first `users_previewed`."""

    users: int
    traces: int
    users_previewed: int
    counts: dict[str, int]
    memories: list[ChangedMemoryResponse]
    left_alone: list[LeftAloneResponse]


class RollbackSummary(ResponseBody):
    """A rollback; `counts` are known once it is done.

    After an undo, `counts` say how many traces it has restored (`undone_traces`), and how much it has left alone
    because it was changed or run again since (`undo_left_alone`).
    """

    rollback_id: str
    state: RollbackState
    selection: dict[str, Any]
    rerun: bool
    note: str
    created_by: ActorResponse
    counts: dict[str, int]
    created_at: Moment
    finished_at: Moment | None
    undone_by: ActorResponse | None
    undone_at: Moment | None


class RollbackResponse(RollbackSummary):
    """A rollback with its progress; `left_alone` lists up to 500 memories."""

    users: int
    users_waiting: int
    left_alone: list[LeftAloneResponse]


class RollbackList(ResponseBody):
    """Rollbacks, newest first."""

    next: str | None
    previous: str | None
    results: list[RollbackSummary]


def preview_response(preview: RollbackPreview) -> RollbackPreviewResponse:
    """Convert a preview."""
    return RollbackPreviewResponse(
        users=preview.users,
        traces=preview.traces,
        users_previewed=preview.users_previewed,
        counts=preview.counts,
        memories=[_changed(each) for each in preview.memories],
        left_alone=[left_alone_response(each) for each in preview.kept],
    )


def left_alone_response(kept: ShownKept) -> LeftAloneResponse:
    """Convert what is left alone."""
    memory, trace = kept.memory, kept.trace
    owner = memory or trace
    return LeftAloneResponse(
        reason=kept.reason,
        can_be_forced=kept.can_be_forced,
        user_id=owner.end_user.external_id if owner else "",
        memory_id=memory.shown_id if memory else None,
        content=memory.content if memory else "",
        status=Status(memory.status) if memory else None,
        trace_id=trace.shown_id if trace else None,
    )


def rollback_summary(rollback: Rollback) -> RollbackSummary:
    """Convert a rollback for a list."""
    return RollbackSummary(**_summary(rollback))


def rollback_response(rollback: Rollback, *, progress: RollbackProgress) -> RollbackResponse:
    """Convert a rollback with its progress."""
    return RollbackResponse(
        **_summary(rollback),
        users=progress.users,
        users_waiting=progress.waiting,
        left_alone=[left_alone_response(each) for each in progress.kept],
    )


def _summary(rollback: Rollback) -> dict[str, Any]:
    return {
        "rollback_id": rollback.shown_id,
        "state": RollbackState(rollback.state),
        "selection": _shown_selection(rollback.selection),
        "rerun": rollback.rerun,
        "note": rollback.note,
        "created_by": actor_response(rollback.actor),
        "counts": rollback.counts,
        "created_at": rollback.created_at,
        "finished_at": rollback.finished_at,
        "undone_by": actor_response_or_none(rollback.undone_by),
        "undone_at": rollback.undone_at,
    }


def _changed(each: PreviewedMemory) -> ChangedMemoryResponse:
    return ChangedMemoryResponse(
        memory_id=each.memory.shown_id,
        user_id=each.memory.end_user.external_id,
        content=each.memory.content,
        status=Status(each.memory.status),
        becomes=Status(each.becomes),
        fields=sorted(each.changes),
    )


_PREFIXES = {
    "configuration_id": Prefix.CONFIGURATION,
    "api_key_id": Prefix.API_KEY,
    "end_user_id": Prefix.END_USER,
    "session_id": Prefix.SESSION,
    "replay_id": Prefix.REPLAY,
}


def _shown_selection(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored selection with public identifiers."""
    shown: dict[str, Any] = {
        name: show(_PREFIXES[name], UUID(value)) for name, value in stored.items() if name in _PREFIXES
    }
    if traces := stored.get("trace_ids"):
        shown["trace_ids"] = [show(Prefix.TRACE, UUID(each)) for each in traces]
    return {**stored, **shown}
