"""Shapes of /v1/sessions."""

from apps.api.schemas.common import Answer, Body, Identifier
from apps.pipeline.core.enums import TraceStatus


class EndSessionBody(Body):
    """Whose session ends; the address names it."""

    user_id: Identifier


class SessionEnded(Answer):
    """The trace that will tell what the session shows as a whole; none where nothing new is to be looked at."""

    trace_id: str | None
    status: TraceStatus
