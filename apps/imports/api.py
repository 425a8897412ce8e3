"""Endpoints /v1/imports and /v1/project/export, for keys with scope admin."""

from collections.abc import Callable
from typing import Annotated, Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from rest_framework.request import Request

from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.parsers import BytesParser
from apps.api.problems import Code
from apps.api.schemas import Identifier, Moment, PageBody, PageQuery, RequestBody, ResponseBody, response_of
from apps.api.validation import read_bytes, read_id
from apps.imports import services
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
from apps.imports.transfers.export_project import export_project
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import checked_name

MOST_USERS = 10_000


class ImportBody(RequestBody):
    """A file to import. Without `format` it is recognised.

    `user_id` is the end user of what the file names none for; `users` gives a user_id for a name in the file: an
    account of an export, or a user_id of another product.
    """

    file_name: Identifier
    format: ImportFormat | None = None
    user_id: Identifier | None = None
    users: Annotated[dict[str, Identifier], Meta(max_length=MOST_USERS)] = {}


class ImportProblemResponse(ResponseBody):
    """A place of the file that is not imported, and why."""

    at: str
    reason: str


class ImportResponse(ResponseBody):
    """An import: what its check has found, and how far it is.

    `chunks_done` of `chunks_total` are imported. `problems` are the first ones of `counts.problems`.
    """

    id: str
    status: ImportState
    file_name: str
    format: ImportFormat | None
    user_id: str
    size: int
    has_file: bool
    counts: dict[str, Any]
    problems: list[ImportProblemResponse]
    chunks_total: int
    chunks_done: int
    done: dict[str, int]
    wait_reason: str
    error: str
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None


class ImportList(PageBody):
    """Imports, newest first."""

    results: list[ImportResponse]


def import_response(row: FileImport) -> ImportResponse:
    """Convert an import."""
    return response_of(
        ImportResponse,
        row,
        id=row.shown_id,
        status=ImportState(row.state),
        format=ImportFormat(row.format) if row.format else None,
        problems=[ImportProblemResponse(**each) for each in row.problems],
        chunks_total=row.chunks,
        chunks_done=row.position,
    )


class AdminView(ApiView):
    """A view for keys with scope admin."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST", "PUT", "DELETE"), Scope.ADMIN)

    def answer(self, act: Callable[..., FileImport], import_id: str, **options: Any) -> ImportResponse:
        """Return an import after an action on it."""
        wanted = read_id(Prefix.IMPORT, import_id)
        return import_response(act(project_id=self.caller.project_id, import_id=wanted, **options))


class ImportsView(AdminView):
    """The imports of the project."""

    @operation("list_imports", summary="List imports")
    def get(self, request: Request, query: PageQuery) -> ImportList:
        """List imports, newest first."""
        rows = FileImport.objects.filter(project_id=self.caller.project_id).defer("users")
        return self.page(ImportList, rows, import_response, limit=query.limit)

    @operation(
        "request_import",
        summary="Request an import",
        status=201,
        problems=[Code.CONFLICT],
        example={"file_name": "conversations.json", "user_id": "kim"},
        repeatable=True,
    )
    def post(self, request: Request, body: ImportBody) -> ImportResponse:
        """Announce a file; it is sent then, which begins its check, and `start` imports it."""
        wanted = FileImport(
            project_id=self.caller.project_id,
            file_name=checked_name(body.file_name, at="/file_name"),
            format=body.format or "",
            user_id=checked_name(body.user_id or "", at="/user_id"),
            users_by_name={
                checked_name(name, at="/users"): checked_name(user_id, at=f"/users/{name[:64]}")
                for name, user_id in body.users.items()
            },
            api_key_id=self.caller.api_key_id,
        )
        return import_response(services.request_import(request=wanted))


class ImportView(AdminView):
    """One import."""

    @operation("read_import", summary="Read an import", problems=[Code.NOT_FOUND])
    def get(self, request: Request, import_id: str) -> ImportResponse:
        """Read what the check has found, the progress, and the report."""
        return self.answer(services.find_import, import_id)


class ImportStartView(AdminView):
    """Starting and resuming an import."""

    @operation("start_import", summary="Start or resume an import", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def post(self, request: Request, import_id: str) -> ImportResponse:
        """Import the file in the background; an import that was cancelled or has failed goes on where it was."""
        return self.answer(services.start_import, import_id, api_key_id=self.caller.api_key_id)


class ImportCancelView(AdminView):
    """Cancelling an import."""

    @operation("cancel_import", summary="Cancel an import", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def post(self, request: Request, import_id: str) -> ImportResponse:
        """Stop an import; what it has imported stays. Repeating it changes nothing."""
        return self.answer(services.cancel_import, import_id)


class ImportFileView(AdminView):
    """The stored file of an import."""

    parser_classes = [BytesParser]

    @operation(
        "put_import_file",
        summary="Send the file of an import",
        takes_bytes=True,
        problems=[Code.NOT_FOUND, Code.CONFLICT, Code.INVALID_REQUEST],
    )
    def put(self, request: Request, import_id: str) -> ImportResponse:
        """Store the whole file, of at most 100 MB, and count in the background what it would bring.

        Nothing of it is imported. After a check that failed or was cancelled, the file may be sent again.
        """
        return self.answer(services.store_file, import_id, content=read_bytes(request))

    @operation("delete_import_file", summary="Delete the file of an import", problems=[Code.NOT_FOUND, Code.CONFLICT])
    def delete(self, request: Request, import_id: str) -> ImportResponse:
        """Delete the file now instead of when its time is up; an import that is not done is cancelled for good."""
        return self.answer(services.delete_import_file, import_id)


class ProjectExportView(AdminView):
    """All of the project."""

    @operation("export_project", summary="Export the project", responses={(200, "application/jsonl"): OpenApiTypes.STR})
    def get(self, request: Request) -> StreamingHttpResponse:
        """Return the project as lines of JSON, from which an import makes another one; without keys and accounts."""
        lines = export_project(project_id=self.caller.project_id)
        return StreamingHttpResponse(lines, content_type="application/jsonl")
