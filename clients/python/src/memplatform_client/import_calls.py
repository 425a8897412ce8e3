"""Requests of imports: a file is announced, sent and thereby checked, and imported."""

import uuid
from collections.abc import Mapping

from memplatform_client import models
from memplatform_client.calls import Call, given, in_path

WAITING = frozenset({"checking", "waiting", "running"})  # statuses in which the server works on an import
POLL_SECONDS = 1.0


def request_import(
    *,
    file_name: str,
    format: models.ImportFormat | None = None,
    user_id: str | None = None,
    users: Mapping[str, str] | None = None,
    idempotency_key: str | None = None,
) -> Call[models.ImportResponse]:
    """Announce a file; `user_id` is whose its entries are, `users` names a user_id for a name in the file."""
    body = given(file_name=file_name, format=format, user_id=user_id, users=users)
    return Call("POST", "/v1/imports", body=body, headers={"Idempotency-Key": idempotency_key or str(uuid.uuid4())})


def put_import_file(import_id: str, content: bytes) -> Call[models.ImportResponse]:
    """Send the whole file; its check begins, which `wait_import` waits for."""
    return Call("PUT", f"{_path(import_id)}/file", body=content)


def start_import(import_id: str) -> Call[models.ImportResponse]:
    """Start an import that was checked, or resume one that was cancelled or has failed."""
    return Call("POST", f"{_path(import_id)}/start", may_repeat=False)


def cancel_import(import_id: str) -> Call[models.ImportResponse]:
    """Cancel an import; what it has imported stays."""
    return Call("POST", f"{_path(import_id)}/cancel")


def delete_import_file(import_id: str) -> Call[models.ImportResponse]:
    """Delete the stored file of an import that is not under way."""
    return Call("DELETE", f"{_path(import_id)}/file")


def read_import(import_id: str) -> Call[models.ImportResponse]:
    """Read what the check has found, the progress, and the report."""
    return Call("GET", _path(import_id))


def list_imports(*, cursor: str | None = None, limit: int = 50) -> Call[models.ImportList]:
    """List imports, newest first."""
    return Call("GET", "/v1/imports", query=given(cursor=cursor, limit=limit))


def _path(import_id: str) -> str:
    return f"/v1/imports/{in_path(import_id)}"
