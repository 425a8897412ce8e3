"""Views of /v1/rollbacks, for keys with scope admin."""

from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.rollbacks.requests import RollbackRequest, preview_rollback, request_rollback, undo_rollback
from apps.actions.rollbacks.running import progress_of
from apps.actions.rollbacks.selection import TraceSelection, named_selection
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas.common import PageQuery
from apps.api.schemas.rollbacks import (
    RollbackBody,
    RollbackList,
    RollbackPreviewResponse,
    RollbackResponse,
    SelectionBody,
    preview_response,
    rollback_response,
    rollback_summary,
)
from apps.api.validation import not_found, read_body, read_id, read_ids, read_query
from apps.api.views.base import ApiView, ReplayableAnswer, http_response, replayable_answer, to_json
from apps.memories.models import Rollback
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import check_storable, checked_moment, checked_name


class RollbacksView(ApiView):
    """The rollbacks of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "POST": Scope.ADMIN}

    @documented(operation="list_rollbacks", summary="List rollbacks", query=PageQuery, responses={200: RollbackList})
    def get(self, request: Request) -> Response:
        """List rollbacks, newest first."""
        pages = Pages(limit=read_query(request, PageQuery).limit)
        found = pages.read(Rollback.objects.filter(project_id=self.caller.project_id), request)
        return Response(to_json(RollbackList(results=[rollback_summary(each) for each in found], **pages.links())))

    @documented(
        operation="roll_back",
        summary="Roll back traces",
        body=RollbackBody,
        responses={200: RollbackPreviewResponse, 201: RollbackResponse, 202: RollbackResponse},
        problems=[Code.NOT_FOUND],
        example={"selection": {"user_id": "ana", "since": "2026-05-01T00:00:00Z"}, "dry_run": True},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Take back what traces wrote, or preview that.

        What only these traces say is retracted, what they had superseded or merged is restored, and waiting work is
        cancelled. What was edited since, or is said elsewhere, is listed in `left_alone`. By default nothing is written
        and the response is 200; with `dry_run` false it is 201, or 202 if the rollback goes on in the background.
        """
        body = read_body(request, RollbackBody)
        return http_response(self.idempotent(lambda: self._rolled_back(body)))

    def _rolled_back(self, body: RollbackBody) -> ReplayableAnswer:
        check_storable(body.note, at="/note")
        asked = RollbackRequest(
            project_id=self.caller.project_id,
            selection=_selection(self.caller.project_id, body.selection),
            forced=read_ids(Prefix.MEMORY, body.force, at="/force"),
            note=body.note,
            rerun=body.rerun,
        )
        if body.dry_run:
            return replayable_answer(preview_response(preview_rollback(request=asked)))
        rollback = request_rollback(request=asked)
        return replayable_answer(_response(rollback), status=201 if rollback.is_over else 202)


class RollbackView(ApiView):
    """One rollback."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @documented(
        operation="read_rollback",
        summary="Read a rollback",
        responses={200: RollbackResponse},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, rollback_id: str) -> Response:
        """Read a rollback with its progress and what it has left alone."""
        rollbacks = Rollback.objects.filter(project_id=self.caller.project_id)
        rollback = rollbacks.filter(id=read_id(Prefix.ROLLBACK, rollback_id)).first()
        if rollback is None:
            raise not_found()
        return Response(to_json(_response(rollback)))


class RollbackUndoView(ApiView):
    """Undoing a rollback."""

    scopes = {"POST": Scope.ADMIN}

    @documented(
        operation="undo_rollback",
        summary="Undo a rollback",
        responses={200: RollbackResponse, 202: RollbackResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def post(self, request: Request, rollback_id: str) -> Response:
        """Restore what a rollback took back; what was changed since is left alone. Repeating it changes nothing."""
        rollback = undo_rollback(project_id=self.caller.project_id, rollback_id=read_id(Prefix.ROLLBACK, rollback_id))
        return Response(to_json(_response(rollback)), status=200 if rollback.is_over else 202)


def _selection(project_id: UUID, body: SelectionBody) -> TraceSelection:
    at = "/selection"
    return named_selection(
        project_id=project_id,
        trace_ids=read_ids(Prefix.TRACE, body.trace_ids, at=f"{at}/trace_ids"),
        version=body.version,
        api_key_id=read_id(Prefix.API_KEY, body.key_id, at=f"{at}/key_id") if body.key_id else None,
        user_id=checked_name(body.user_id, at=f"{at}/user_id") if body.user_id else "",
        session_id=checked_name(body.session_id, at=f"{at}/session_id") if body.session_id else "",
        replay_id=read_id(Prefix.REPLAY, body.replay_id, at=f"{at}/replay_id") if body.replay_id else None,
        since=checked_moment(body.since, at=f"{at}/since"),
        until=checked_moment(body.until, at=f"{at}/until"),
    )


def _response(rollback: Rollback) -> RollbackResponse:
    return rollback_response(rollback, progress=progress_of(rollback))
