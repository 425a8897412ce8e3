"""POST /v1/sessions/{id}/end."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from rest_framework.request import Request

from apps.actions.sessions.end_session import end_session
from apps.api.openapi import documented
from apps.api.problems import Code
from apps.api.reading import read_body
from apps.api.schemas.sessions import EndSessionBody, SessionEnded
from apps.api.views.base import ApiView, kept, response
from apps.intake.idempotency import ReplayableAnswer as KeptAnswer
from apps.outbox.wake_workers import wake_workers
from apps.pipeline.core.identifiers import Prefix, end_user_id, show
from apps.pipeline.core.identifiers import session_id as derived
from apps.pipeline.core.input_validation import checked_name


class SessionEndView(ApiView):
    """The end of a session."""

    @documented(
        operation="end_session",
        summary="End a session",
        body=EndSessionBody,
        answers={200: SessionEnded, 202: SessionEnded},
        problems=[Code.NOT_FOUND],
        example={"user_id": "ana"},
        repeatable=True,
    )
    def post(self, request: Request, session_id: str) -> HttpResponse:
        """End a session: what it shows as a whole (arcs, goals, a summary) is extracted in the background.

        Answers 202 with the trace, or 200 where no turn is new since the last time or no model is configured. A
        session that nobody ends is ended after it was idle for a while; later turns open it again.
        """
        body = read_body(request, EndSessionBody)
        name = checked_name(session_id, at="session_id")
        user = end_user_id(project_id=self.caller.project_id, user_id=checked_name(body.user_id, at="/user_id"))
        answer = self.once(partial(self._end, user, derived(end_user_id=user, session_id=name)))
        return response(answer, trace_id=answer.body["trace_id"])

    def _end(self, user: UUID, session: UUID) -> KeptAnswer:
        caller = self.caller
        ended = end_session(
            project_id=caller.project_id, end_user_id=user, session_id=session, api_key_id=caller.api_key_id
        )
        if ended.trace_id is None:
            return kept(SessionEnded(trace_id=None, status=ended.status))
        transaction.on_commit(wake_workers, robust=True)
        return kept(SessionEnded(trace_id=show(Prefix.TRACE, ended.trace_id), status=ended.status), status=202)
