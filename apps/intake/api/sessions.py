"""Endpoints of sessions, and of single turns."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import http_response
from apps.api.problems import Code
from apps.api.serializers import ApiSerializer, EnumField, NameField, QuerySerializer
from apps.api.viewsets import ApiViewSet, operation
from apps.intake.idempotency import ReplayableAnswer
from apps.intake.sessions import delete_session, delete_turn, end_session
from apps.pipeline.core.enums import Scope, TraceStatus
from apps.pipeline.core.identifiers import Prefix, end_user_id, show
from apps.pipeline.core.identifiers import session_id as derive_session_id
from apps.pipeline.core.input_validation import checked_name


class EndSessionSerializer(ApiSerializer):
    """The user whose session ends; the URL names the session."""

    user_id = NameField()


class SessionEndSerializer(ApiSerializer):
    """The trace of the extraction over the whole session; null if there is nothing new to extract."""

    trace_id = serializers.CharField(allow_null=True)
    status = EnumField(TraceStatus)


class SessionQuery(QuerySerializer):
    """The user of a session; the URL names the session."""

    user_id = NameField()


class DeletedSerializer(ApiSerializer):
    """How many turns and memories were deleted, and with a session how many items."""

    turns = serializers.IntegerField()
    memories = serializers.IntegerField()
    items = serializers.IntegerField()


class SessionViewSet(ApiViewSet):
    """Sessions, by the caller's own names of them."""

    scopes = {"DELETE": Scope.ADMIN}

    @operation(
        "end_session",
        summary="End a session",
        body=EndSessionSerializer,
        answers={200: SessionEndSerializer, 202: SessionEndSerializer},
        problems=[Code.NOT_FOUND],
        example={"user_id": "ana"},
        is_repeatable=True,
        stores_answer=False,
    )
    def end(self, request: Request, session_id: str) -> HttpResponse:
        """End a session: a model then extracts arcs, goals and a summary from the whole session in the background.

        Returns 202 with the trace, or 200 if there are no new turns since the last time or no model is configured. An
        idle session is ended automatically after a while; later turns reopen it.
        """
        name = checked_name(session_id, at="session_id")
        user = end_user_id(project_id=self.caller.project_id, user_id=self.valid(EndSessionSerializer)["user_id"])
        answer = self.idempotent(partial(self._end, user, derive_session_id(end_user_id=user, session_id=name)))
        return http_response(answer, trace_id=answer.body["trace_id"])

    def _end(self, user: UUID, session: UUID) -> ReplayableAnswer:
        caller = self.caller
        trace_id = end_session(
            project_id=caller.project_id, end_user_id=user, session_id=session, api_key_id=caller.api_key_id
        )
        if trace_id is None:
            return ReplayableAnswer(status=200, body={"trace_id": None, "status": TraceStatus.DONE.value})
        return ReplayableAnswer(
            status=202, body={"trace_id": show(Prefix.TRACE, trace_id), "status": TraceStatus.QUEUED.value}
        )

    @operation(
        "delete_session",
        summary="Delete a session",
        query=SessionQuery,
        answers={200: DeletedSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def destroy(self, request: Request, session_id: str) -> Response:
        """Delete a session with its turns, traces, items, and the memories that were stated nowhere else.

        Memories that other sessions state as well stay, without the quotes from this one.
        """
        deleted = delete_session(
            project_id=self.caller.project_id,
            user_id=self.query["user_id"],
            session_id=checked_name(session_id, at="session_id"),
        )
        return self.answer(DeletedSerializer, deleted)


class TurnViewSet(ApiViewSet):
    """Single turns."""

    prefix = Prefix.TURN
    lookup_url_kwarg = "turn_id"
    scopes = {"DELETE": Scope.ADMIN}

    @operation(
        "delete_turn",
        summary="Delete a turn",
        answers={200: DeletedSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def destroy(self, request: Request, turn_id: str) -> Response:
        """Delete a turn with the memories that no other turn states, and the outcomes of its trace."""
        return self.answer(DeletedSerializer, delete_turn(**self.named))
