"""Views of /v1/rollbacks, for keys with scope admin."""

from functools import partial
from typing import Annotated, Any

from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.actors import ActorResponse, actor_response, actor_response_or_none
from apps.api.base import replayable_answer, to_json
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import (
    DayEnd,
    DayStart,
    Identifier,
    Moment,
    PageBody,
    PageQuery,
    RequestBody,
    ResponseBody,
    Shape,
    response_of,
)
from apps.api.validation import not_found, read_id, read_ids
from apps.intake.idempotency import ReplayableAnswer
from apps.memories.models import Memory, Rollback
from apps.pipeline.core.enums import LeftAlone, RollbackState, Status
from apps.pipeline.core.identifiers import Prefix, with_prefixes
from apps.pipeline.core.input_validation import check_storable, checked_moment, checked_name
from apps.traces.models import Trace
from apps.tuning.api.admin_view import AdminView
from apps.tuning.rollbacks.loading import named_selection
from apps.tuning.rollbacks.planning import Kept
from apps.tuning.rollbacks.requests import RollbackPreview, preview_rollback, request_rollback, undo_rollback
from apps.tuning.rollbacks.running import progress_of

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

    id: str
    status: RollbackState
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


class RollbackList(PageBody):
    """Rollbacks, newest first."""

    results: list[RollbackSummary]


def _preview(preview: RollbackPreview) -> RollbackPreviewResponse:
    return response_of(
        RollbackPreviewResponse,
        preview,
        memories=[
            ChangedMemoryResponse(
                memory_id=each.memory.shown_id,
                user_id=each.memory.end_user.external_id,
                content=each.memory.content,
                status=Status(each.memory.status),
                becomes=Status(each.becomes),
                fields=sorted(each.changes),
            )
            for each in preview.memories
        ],
        left_alone=[_left_alone(*each) for each in preview.kept],
    )


def _left_alone(kept: Kept, row: Memory | Trace) -> LeftAloneResponse:
    memory = row if isinstance(row, Memory) else None
    return LeftAloneResponse(
        reason=kept.reason,
        can_be_forced=kept.can_be_forced,
        user_id=row.end_user.external_id,
        memory_id=memory.shown_id if memory else None,
        content=memory.content if memory else "",
        status=Status(memory.status) if memory else None,
        trace_id=None if memory else row.shown_id,
    )


def _response(rollback: Rollback) -> RollbackResponse:
    users, waiting, kept = progress_of(rollback)
    return _converted(
        RollbackResponse,
        rollback,
        users=users,
        users_waiting=waiting,
        left_alone=[_left_alone(*each) for each in kept],
    )


def _converted(shape: type[Shape], rollback: Rollback, **more: Any) -> Shape:
    return response_of(
        shape,
        rollback,
        id=rollback.shown_id,
        status=RollbackState(rollback.state),
        selection=with_prefixes(rollback.selection),
        created_by=actor_response(rollback.actor),
        undone_by=actor_response_or_none(rollback.undone_by),
        **more,
    )


class RollbacksView(AdminView):
    """The rollbacks of the project."""

    @operation("list_rollbacks", summary="List rollbacks")
    def get(self, request: Request, query: PageQuery) -> RollbackList:
        """List rollbacks, newest first."""
        return self.page(
            RollbackList,
            Rollback.objects.filter(project_id=self.caller.project_id),
            partial(_converted, RollbackSummary),
            limit=query.limit,
        )

    @operation(
        "roll_back",
        summary="Roll back traces",
        responses={200: RollbackPreviewResponse, 201: RollbackResponse, 202: RollbackResponse},
        problems=[Code.NOT_FOUND],
        example={"selection": {"user_id": "ana", "since": "2026-05-01T00:00:00Z"}, "dry_run": True},
        repeatable=True,
    )
    def post(self, request: Request, body: RollbackBody) -> ReplayableAnswer:
        """Take back what traces wrote, or preview that.

        What only these traces say is retracted, what they had superseded or merged is restored, and waiting work is
        cancelled. What was edited since, or is said elsewhere, is listed in `left_alone`. By default nothing is written
        and the response is 200; with `dry_run` false it is 201, or 202 if the rollback goes on in the background.
        """
        check_storable(body.note, at="/note")
        given, at = body.selection, "/selection"
        selection = named_selection(
            project_id=self.caller.project_id,
            trace_ids=read_ids(Prefix.TRACE, given.trace_ids, at=f"{at}/trace_ids"),
            version=given.version,
            api_key_id=read_id(Prefix.API_KEY, given.key_id, at=f"{at}/key_id") if given.key_id else None,
            user_id=checked_name(given.user_id, at=f"{at}/user_id") if given.user_id else "",
            session_id=checked_name(given.session_id, at=f"{at}/session_id") if given.session_id else "",
            replay_id=read_id(Prefix.REPLAY, given.replay_id, at=f"{at}/replay_id") if given.replay_id else None,
            since=checked_moment(given.since, at=f"{at}/since"),
            until=checked_moment(given.until, at=f"{at}/until"),
        )
        asked = Rollback(
            project_id=self.caller.project_id,
            selection=selection,
            forced=[str(each) for each in read_ids(Prefix.MEMORY, body.force, at="/force")],
            note=body.note,
            rerun=body.rerun,
        )
        if body.dry_run:
            return replayable_answer(_preview(preview_rollback(asked)))
        rollback = request_rollback(asked)
        return replayable_answer(_response(rollback), status=201 if rollback.is_over else 202)


class RollbackView(AdminView):
    """One rollback."""

    @operation("read_rollback", summary="Read a rollback", problems=[Code.NOT_FOUND])
    def get(self, request: Request, rollback_id: str) -> RollbackResponse:
        """Read a rollback with its progress and what it has left alone."""
        wanted = read_id(Prefix.ROLLBACK, rollback_id)
        rollback = Rollback.objects.filter(project_id=self.caller.project_id, id=wanted).first()
        if rollback is None:
            raise not_found()
        return _response(rollback)


class RollbackUndoView(AdminView):
    """Undoing a rollback."""

    @operation(
        "undo_rollback",
        summary="Undo a rollback",
        responses={200: RollbackResponse, 202: RollbackResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def post(self, request: Request, rollback_id: str) -> Response:
        """Restore what a rollback took back; what was changed since is left alone. Repeating it changes nothing."""
        rollback = undo_rollback(project_id=self.caller.project_id, rollback_id=read_id(Prefix.ROLLBACK, rollback_id))
        return Response(to_json(_response(rollback)), status=200 if rollback.is_over else 202)
