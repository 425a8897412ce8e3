"""Views of /v1/sessions and of single turns."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from rest_framework.request import Request

from apps.api.base import ApiView, http_response, replayable_answer
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import Identifier, QueryParameters, RequestBody, ResponseBody
from apps.api.validation import read_id
from apps.intake.idempotency import ReplayableAnswer
from apps.intake.sessions import delete_session, delete_turn, end_session
from apps.pipeline.core.enums import Scope, TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, show
from apps.pipeline.core.identifiers import session_id as derive_session_id
from apps.pipeline.core.input_validation import checked_name


class EndSessionBody(RequestBody):
    """The user whose session ends; the URL names the session."""

    user_id: Identifier


class SessionEndResponse(ResponseBody):
    """The trace of the extraction over the whole session; null if there is nothing new to extract."""

    trace_id: str | None
    status: TraceStatus


class SessionQuery(QueryParameters):
    """The user of a session; the URL names the session."""

    user_id: Identifier


class DeletedResponse(ResponseBody):
    """How many turns and memories were deleted, and with a session how many items."""

    turns: int
    memories: int
    items: int


class SessionEndView(ApiView):
    """Ending a session."""

    @operation(
        "end_session",
        summary="End a session",
        responses={200: SessionEndResponse, 202: SessionEndResponse},
        problems=[Code.NOT_FOUND],
        example={"user_id": "ana"},
        repeatable=True,
    )
    def post(self, request: Request, session_id: str, body: EndSessionBody) -> HttpResponse:
        """End a session: a model then extracts arcs, goals and a summary from the whole session in the background.

        Returns 202 with the trace, or 200 if there are no new turns since the last time or no model is configured. An
        idle session is ended automatically after a while; later turns reopen it.
        """
        name = checked_name(session_id, at="session_id")
        user = end_user_id(project_id=self.caller.project_id, user_id=checked_name(body.user_id, at="/user_id"))
        answer = self.idempotent(partial(self._end, user, derive_session_id(end_user_id=user, session_id=name)))
        return http_response(answer, trace_id=answer.body["trace_id"])

    def _end(self, user: UUID, session: UUID) -> ReplayableAnswer:
        caller = self.caller
        trace_id = end_session(
            project_id=caller.project_id, end_user_id=user, session_id=session, api_key_id=caller.api_key_id
        )
        if trace_id is None:
            return replayable_answer(SessionEndResponse(trace_id=None, status=TraceStatus.DONE))
        enqueued = SessionEndResponse(trace_id=show(Prefix.TRACE, trace_id), status=TraceStatus.QUEUED)
        return replayable_answer(enqueued, status=202)


class SessionView(ApiView):
    """One session."""

    scopes = {"DELETE": Scope.ADMIN}

    @operation("delete_session", summary="Delete a session", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def delete(self, request: Request, session_id: str, query: SessionQuery) -> DeletedResponse:
        """Delete a session with its turns, traces, items, and the memories that were stated nowhere else.

        Memories that other sessions state as well stay, without the quotes from this one.
        """
        deleted = delete_session(
            project_id=self.caller.project_id,
            user_id=checked_name(query.user_id, at="user_id"),
            session_id=checked_name(session_id, at="session_id"),
        )
        return DeletedResponse(**deleted)


class TurnView(ApiView):
    """One turn."""

    scopes = {"DELETE": Scope.ADMIN}

    @operation("delete_turn", summary="Delete a turn", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def delete(self, request: Request, turn_id: str) -> DeletedResponse:
        """Delete a turn with the memories that no other turn states, and the outcomes of its trace."""
        deleted = delete_turn(project_id=self.caller.project_id, turn_id=read_id(Prefix.TURN, turn_id))
        return DeletedResponse(**deleted)
