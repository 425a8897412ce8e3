"""Views of /v1/imports and /v1/project/export, for keys with scope admin."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, http_response, replayable_answer, to_json
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.parsers import BytesParser
from apps.api.problems import Code
from apps.api.schemas import PageQuery
from apps.api.validation import read_body, read_bytes, read_id, read_query
from apps.imports.api.bodies import (
    ImportBody,
    ImportList,
    ImportResponse,
    import_response,
    named_users,
)
from apps.imports.models import FileImport
from apps.imports.services import (
    cancel_import,
    delete_import_file,
    find_import,
    request_import,
    start_import,
    store_file,
)
from apps.imports.transfers.export_project import export_project
from apps.intake.idempotency import ReplayableAnswer
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_name


class AdminView(ApiView):
    """A view for keys with scope admin."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PUT", "DELETE"), Scope.ADMIN)

    def answer(self, act: Callable[..., FileImport], import_id: str, **options: Any) -> Response:
        """Return an import after an action on it."""
        wanted = read_id(Prefix.IMPORT, import_id)
        return Response(to_json(import_response(act(project_id=self.caller.project_id, import_id=wanted, **options))))


class ImportsView(AdminView):
    """The imports of the project."""

    @documented(operation="list_imports", summary="List imports", query=PageQuery, responses={200: ImportList})
    def get(self, request: Request) -> Response:
        """List imports, newest first."""
        query = read_query(request, PageQuery)
        pages = Pages(limit=query.limit)
        found = pages.read(FileImport.objects.filter(project_id=self.caller.project_id).defer("users"), request)
        return Response(to_json(ImportList(results=[import_response(each) for each in found], **pages.links())))

    @documented(
        operation="request_import",
        summary="Request an import",
        body=ImportBody,
        responses={201: ImportResponse},
        problems=[Code.CONFLICT],
        example={"file_name": "conversations.json", "user_id": "kim"},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Announce a file; it is sent then, which begins its check, and `start` imports it."""
        body = read_body(request, ImportBody)
        wanted = FileImport(
            project_id=self.caller.project_id,
            file_name=checked_name(body.file_name, at="/file_name"),
            format=body.format or "",
            user_id=checked_name(body.user_id or "", at="/user_id"),
            users_by_name=named_users(body),
            api_key_id=self.caller.api_key_id,
        )

        def do() -> ReplayableAnswer:
            return replayable_answer(import_response(request_import(request=wanted)), status=201)

        return http_response(self.idempotent(do))


class ImportView(AdminView):
    """One import."""

    @documented(
        operation="read_import", summary="Read an import", responses={200: ImportResponse}, problems=[Code.NOT_FOUND]
    )
    def get(self, request: Request, import_id: str) -> Response:
        """Read what the check has found, the progress, and the report."""
        return self.answer(find_import, import_id)


class ImportStartView(AdminView):
    """Starting and resuming an import."""

    @documented(
        operation="start_import",
        summary="Start or resume an import",
        responses={200: ImportResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def post(self, request: Request, import_id: str) -> Response:
        """Import the file in the background; an import that was cancelled or has failed goes on where it was."""
        return self.answer(start_import, import_id, api_key_id=self.caller.api_key_id)


class ImportCancelView(AdminView):
    """Cancelling an import."""

    @documented(
        operation="cancel_import",
        summary="Cancel an import",
        responses={200: ImportResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def post(self, request: Request, import_id: str) -> Response:
        """Stop an import; what it has imported stays. Repeating it changes nothing."""
        return self.answer(cancel_import, import_id)


class ImportFileView(AdminView):
    """The stored file of an import."""

    parser_classes = [BytesParser]

    @documented(
        operation="put_import_file",
        summary="Send the file of an import",
        takes_bytes=True,
        responses={200: ImportResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_REQUEST],
    )
    def put(self, request: Request, import_id: str) -> Response:
        """Store the whole file, of at most 100 MB, and count in the background what it would bring.

        Nothing of it is imported. After a check that failed or was cancelled, the file may be sent again.
        """
        return self.answer(store_file, import_id, content=read_bytes(request))

    @documented(
        operation="delete_import_file",
        summary="Delete the file of an import",
        responses={200: ImportResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
    )
    def delete(self, request: Request, import_id: str) -> Response:
        """Delete the file now instead of when its time is up; an import that is not done is cancelled for good."""
        return self.answer(delete_import_file, import_id)


class ProjectExportView(AdminView):
    """All of the project."""

    @documented(
        operation="export_project",
        summary="Export the project",
        responses={(200, "application/jsonl"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Return the project as lines of JSON, from which an import makes another one; without keys and accounts."""
        lines = export_project(project_id=self.caller.project_id)
        return StreamingHttpResponse(lines, content_type="application/jsonl")
