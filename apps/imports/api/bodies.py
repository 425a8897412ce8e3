"""Schemas of /v1/imports."""

from typing import Annotated, Any

from msgspec import Meta

from apps.api.schemas import Identifier, Moment, PageBody, RequestBody, ResponseBody
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
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


def named_users(body: ImportBody) -> dict[str, str]:
    """Return the user_ids by name. Raises BadInput."""
    return {
        checked_name(name, at="/users"): checked_name(user_id, at=f"/users/{name[:64]}")
        for name, user_id in body.users.items()
    }


_COPIED = {"file_name", "user_id", "size", "has_file", "counts", "done", "wait_reason", "error"}
_COPIED |= {"created_at", "started_at", "finished_at"}


def import_response(row: FileImport) -> ImportResponse:
    """Convert an import."""
    return ImportResponse(
        **{name: getattr(row, name) for name in _COPIED},
        id=row.shown_id,
        status=ImportState(row.state),
        format=ImportFormat(row.format) if row.format else None,
        problems=[ImportProblemResponse(**each) for each in row.problems],
        chunks_total=row.chunks,
        chunks_done=row.position,
    )
