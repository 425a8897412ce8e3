"""Views of /v1/users and /v1/erasures, for keys with scope admin."""

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.errors import NotFound
from apps.actions.users.services import erase_user, export_user, list_users
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas.common import PageQuery
from apps.api.schemas.users import (
    ErasureResponse,
    ErasureStatus,
    UserList,
    UserStatsResponse,
    erasure_response,
    user_response,
    user_stats_response,
)
from apps.api.validation import read_id, read_query
from apps.api.views.base import ApiView, to_json
from apps.memories.user_stats import user_stats
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, end_user_id
from apps.pipeline.core.input_validation import checked_name
from apps.tenants.models import EndUser, Erasure


class UsersView(ApiView):
    """The end users of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @documented(operation="list_users", summary="List end users", query=PageQuery, responses={200: UserList})
    def get(self, request: Request) -> Response:
        """List the end users with the numbers of their live memories, sessions and turns, ordered by `user_id`."""
        query = read_query(request, PageQuery)
        pages = Pages(limit=query.limit, ordering="external_id")
        found = pages.read(list_users(project_id=self.caller.project_id), request)
        return Response(to_json(UserList(results=[user_response(user) for user in found], **pages.links())))


class UserView(ApiView):
    """One end user."""

    scopes = {"DELETE": Scope.ADMIN}
    archived_methods = ("DELETE",)  # an archive must not keep what somebody has a right to have erased

    @documented(
        operation="erase_user",
        summary="Erase an end user",
        responses={200: ErasureResponse, 202: ErasureResponse},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def delete(self, request: Request, user_id: str) -> Response:
        """Delete everything that the end user said and everything that was derived from it, in all tables.

        Returns 200 with the receipt when that is done, or 202 after two seconds; a worker then goes on, and
        `GET /v1/erasures/{erasure_id}` returns the state. While an erasure runs, requests that would write about the
        user are answered with 409. Afterwards the user may return and starts with nothing.
        """
        erasure = erase_user(project_id=self.caller.project_id, user_id=checked_name(user_id, at="user_id"))
        answer = erasure_response(erasure)
        return Response(to_json(answer), status=200 if answer.status is ErasureStatus.DONE else 202)


class UserExportView(ApiView):
    """The data of one end user."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @documented(
        operation="export_user",
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

    @documented(
        operation="read_user_stats",
        summary="Read numbers of an end user",
        responses={200: UserStatsResponse},
        problems=[Code.NOT_FOUND, Code.INVALID_REQUEST],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Count the end user's memories by status, type and agent, sessions and turns."""
        name = checked_name(user_id, at="user_id")
        users = EndUser.objects.for_project(self.caller.project_id).present()
        found = users.filter(id=end_user_id(project_id=self.caller.project_id, user_id=name)).first()
        if found is None:
            raise NotFound("there is no such end user")
        return Response(to_json(user_stats_response(name, user_stats(end_user_id=found.id))))


class ErasureView(ApiView):
    """The receipt of an erasure."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}

    @documented(
        operation="get_erasure",
        summary="Get the receipt of an erasure",
        responses={200: ErasureResponse},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, erasure_id: str) -> Response:
        """Return the state of an erasure, and how many rows of each table it has deleted."""
        erasures = Erasure.objects.filter(project_id=self.caller.project_id)
        erasure = erasures.filter(id=read_id(Prefix.ERASURE, erasure_id)).first()
        if erasure is None:
            raise NotFound("there is no such erasure")
        return Response(to_json(erasure_response(erasure)))
