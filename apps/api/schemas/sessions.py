"""Schemas of /v1/sessions."""

from apps.api.schemas.common import Identifier, QueryParameters, RequestBody, ResponseBody
from apps.pipeline.core.enums import TraceStatus


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
