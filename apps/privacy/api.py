"""Views of /v1/users and /v1/erasures, for keys with scope admin."""

from enum import StrEnum
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, to_json
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import Moment, PageBody, PageQuery, ResponseBody
from apps.api.validation import read_id
from apps.common.rows import get_or_refuse
from apps.memories.user_stats import user_stats
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, end_user_id
from apps.pipeline.core.input_validation import checked_name
from apps.privacy.users import erase_user, export_user, list_users
from apps.tenants.models import EndUser, Erasure


class UserResponse(ResponseBody):
    """An end user, with the number of live memories, sessions and turns."""

    id: str
    user_id: str
    memories: int
    sessions: int
    turns: int
    created_at: Moment


class UserList(PageBody):
    """End users, ordered by `user_id`."""

    results: list[UserResponse]


class UserStatsResponse(ResponseBody):
    """Numbers of what is known about an end user.

    `by_status` counts all memories; `by_type` and `by_agent` the live ones, the latter by the agent that told them
    first (the hundred agents with most). The times are those of live memories.
    """

    user_id: str
    by_status: dict[str, int]
    by_type: dict[str, int]
    by_agent: dict[str, int]
    sessions: int
    turns: int
    first_said_at: Moment | None
    last_said_at: Moment | None
    last_turn_at: Moment | None


class ErasureStatus(StrEnum):
    """Whether everything is deleted."""

    RUNNING = "running"
    DONE = "done"


class ErasureResponse(ResponseBody):
    """The receipt of an erasure; `deleted` counts the rows by table."""

    id: str
    status: ErasureStatus
    deleted: dict[str, int]
    requested_at: Moment
    finished_at: Moment | None


def user_response(user: Any) -> UserResponse:
    """Convert a row of list_users."""
    return UserResponse(
        id=user.shown_id,
        user_id=user.external_id,
        memories=user.live_memories,
        sessions=user.session_count,
        turns=user.turn_count,
        created_at=user.created_at,
    )


def erasure_response(erasure: Erasure) -> ErasureResponse:
    """Convert a receipt."""
    return ErasureResponse(
        id=erasure.shown_id,
        status=ErasureStatus.DONE if erasure.finished_at else ErasureStatus.RUNNING,
        deleted=erasure.counts,
        requested_at=erasure.requested_at,
        finished_at=erasure.finished_at,
    )


class UsersView(ApiView):
    """The end users of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @operation("list_users", summary="List end users")
    def get(self, request: Request, query: PageQuery) -> UserList:
        """List the end users with the numbers of their live memories, sessions and turns, ordered by `user_id`."""
        return self.page(
            UserList,
            list_users(project_id=self.caller.project_id),
            user_response,
            limit=query.limit,
            ordering="external_id",
        )


class UserView(ApiView):
    """One end user."""

    scopes = {"DELETE": Scope.ADMIN}
    archived_methods = ("DELETE",)  # an archive must not keep what somebody has a right to have erased

    @operation(
        "erase_user",
        summary="Erase an end user",
        responses={200: ErasureResponse, 202: ErasureResponse},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def delete(self, request: Request, user_id: str) -> Response:
        """Delete everything that the end user said and everything that was derived from it, in all tables.

        Returns 200 with the receipt when that is done, or 202 after two seconds; a worker then goes on, and
        `GET /v1/erasures/{erasure_id}` returns the status. While an erasure runs, requests that would write about the
        user are answered with 409. Afterwards the user may return and starts with nothing.
        """
        erasure = erase_user(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        answer = erasure_response(erasure)
        return Response(to_json(answer), status=200 if answer.status is ErasureStatus.DONE else 202)


class UserExportView(ApiView):
    """The data of one end user."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @operation(
        "export_user",
        summary="Export an end user",
        responses={(200, "application/jsonl"): OpenApiTypes.STR},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def get(self, request: Request, user_id: str) -> StreamingHttpResponse:
        """Return everything that is stored about the end user, one JSON object per line; `kind` names the table.

        The last line is `{"kind": "end"}`: without it, the answer was broken off and is not complete.
        """
        lines = export_user(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        return StreamingHttpResponse(lines, content_type="application/jsonl")


class UserStatsView(ApiView):
    """Numbers of one end user."""

    @operation(
        "read_user_stats", summary="Read numbers of an end user", problems=[Code.NOT_FOUND, Code.INVALID_REQUEST]
    )
    def get(self, request: Request, user_id: str) -> UserStatsResponse:
        """Count the end user's memories by status, type and agent, sessions and turns."""
        name = checked_name(user_id, at="user_id")
        users = EndUser.objects.for_project(self.caller.project_id).present()
        found = get_or_refuse(users.filter(id=end_user_id(project_id=self.caller.project_id, user_id=name)), "end user")
        return UserStatsResponse(user_id=name, **user_stats(end_user_id=found.id))


class ErasureView(ApiView):
    """The receipt of an erasure."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @operation("get_erasure", summary="Get the receipt of an erasure", problems=[Code.NOT_FOUND])
    def get(self, request: Request, erasure_id: str) -> ErasureResponse:
        """Return the status of an erasure, and how many rows of each table it has deleted."""
        erasures = Erasure.objects.filter(project_id=self.caller.project_id)
        erasure = get_or_refuse(erasures.filter(id=read_id(Prefix.ERASURE, erasure_id)), "erasure")
        return erasure_response(erasure)
