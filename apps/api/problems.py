"""Errors as RFC 9457 problem documents, each with a stable code; docs/errors.md explains them."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from django.db import DataError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from structlog.contextvars import get_contextvars

from apps.common import errors as actions
from apps.intake.idempotency import IdempotencyInProgress, IdempotencyMismatch
from apps.intake.quotas import QueueFull, QuotaExceeded, RateLimited
from apps.outbox.outages import DISK_FULL, READ_ONLY, is_locked_out, is_outage, note_refusal, sqlstate_of
from apps.pipeline.core import input_validation

CONTENT_TYPE = "application/problem+json"
RETRY_AFTER_SECONDS = 10  # when the service is unavailable
LOCKED_RETRY_AFTER_SECONDS = 1  # when others hold the same rows, which they do for some tenths of a second
_log = logging.getLogger(__name__)


class Code(StrEnum):
    """Machine-readable error code; the meaning of a code never changes."""

    INVALID_JSON = "invalid_json"
    INVALID_REQUEST = "invalid_request"
    MISSING_KEY = "missing_key"
    INVALID_KEY = "invalid_key"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    HTTPS_REQUIRED = "https_required"
    PROJECT_ARCHIVED = "project_archived"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_ACCEPTABLE = "not_acceptable"
    REQUEST_TIMEOUT = "request_timeout"
    CONFLICT = "conflict"
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
    LENGTH_REQUIRED = "length_required"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    NOT_SUPPORTED = "not_supported"
    QUEUE_FULL = "queue_full"
    QUOTA_EXCEEDED = "quota_exceeded"
    RATE_LIMITED = "rate_limited"
    INTERNAL = "internal"
    DATABASE_UNAVAILABLE = "database_unavailable"
    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    MODEL_UNAVAILABLE = "model_unavailable"
    ROWS_LOCKED = "rows_locked"


STATUS_AND_TITLE: dict[Code, tuple[int, str]] = {
    Code.INVALID_JSON: (400, "The body is not valid JSON"),
    Code.INVALID_REQUEST: (422, "The request contains an invalid value"),
    Code.MISSING_KEY: (401, "An API key is required"),
    Code.INVALID_KEY: (401, "The API key is not valid"),
    Code.INSUFFICIENT_SCOPE: (403, "The API key does not have the required scope"),
    Code.HTTPS_REQUIRED: (403, "HTTPS is required"),
    Code.PROJECT_ARCHIVED: (403, "The project is archived"),
    Code.NOT_FOUND: (404, "Not found"),
    Code.METHOD_NOT_ALLOWED: (405, "Method not allowed"),
    Code.NOT_ACCEPTABLE: (406, "Only JSON responses are available"),
    Code.REQUEST_TIMEOUT: (408, "The body did not arrive in time"),
    Code.CONFLICT: (409, "The present state does not allow the request"),
    Code.IDEMPOTENCY_IN_PROGRESS: (409, "The first request with this Idempotency-Key is still running"),
    Code.LENGTH_REQUIRED: (411, "Content-Length is required"),
    Code.TOO_LARGE: (413, "The request is too large"),
    Code.UNSUPPORTED_MEDIA_TYPE: (415, "Only application/json is accepted"),
    Code.IDEMPOTENCY_MISMATCH: (422, "The Idempotency-Key was used for a different request"),
    Code.NOT_SUPPORTED: (422, "This server does not offer what the client asks for"),
    Code.QUEUE_FULL: (429, "The project's queue is full"),
    Code.QUOTA_EXCEEDED: (429, "A quota of the project is used up"),
    Code.RATE_LIMITED: (429, "Too many requests"),
    Code.INTERNAL: (500, "Internal server error"),
    Code.DATABASE_UNAVAILABLE: (503, "The database does not answer"),
    Code.DISK_FULL: (503, "The disk of the database is full"),
    Code.READ_ONLY: (503, "The database takes no writes"),
    Code.MODEL_UNAVAILABLE: (503, "A model does not answer"),
    Code.ROWS_LOCKED: (503, "Others are writing the same"),
}


class Problem(Exception):
    """An error reported to the caller; `errors` name invalid values by pointer or parameter."""

    def __init__(self, code: Code, detail: str, *, errors: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)

    @property
    def status(self) -> int:
        """Return the HTTP status of the code."""
        return STATUS_AND_TITLE[self.code][0]

    @property
    def title(self) -> str:
        """Return what the code means."""
        return STATUS_AND_TITLE[self.code][1]

    def document(self) -> dict[str, Any]:
        """Return the problem document."""
        document: dict[str, Any] = {
            "type": f"urn:memplatform:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code.value,
        }
        if request_id := get_contextvars().get("request_id"):
            document["request_id"] = request_id
        return {**document, "errors": list(self.errors)} if self.errors else document


def invalid(message: str, *, at: str, code: Code = Code.INVALID_REQUEST) -> Problem:
    """Return a problem about one value; `at` is a JSON pointer (empty or with a leading slash) or a parameter name."""
    place = "pointer" if not at or at.startswith("/") else "parameter"
    return Problem(code, f"{at or 'the body'}: {message}", errors=[{place: at, "message": message}])


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Convert an exception of a view to a response (DRF's EXCEPTION_HANDLER); None leaves it to Django."""
    problem = problem_of(error)
    if problem is None:
        return None
    headers = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    elif isinstance(error, QueueFull | QuotaExceeded):
        headers["Retry-After"] = str(error.retry_after)
    elif is_locked_out(error):
        headers["Retry-After"] = str(LOCKED_RETRY_AFTER_SECONDS)
    elif is_outage(error) or isinstance(error, actions.ProviderError):
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    elif isinstance(error, exceptions.MethodNotAllowed):
        headers["Allow"] = ", ".join(context["view"].allowed_methods)
    return Response(problem.document(), status=problem.status, headers=headers, content_type=CONTENT_TYPE)


_REFUSALS = {DISK_FULL: Code.DISK_FULL, READ_ONLY: Code.READ_ONLY}
_DETAILS = {Code.MISSING_KEY: "no API key was sent: send the header Authorization: Bearer mp_…"}
_CODES: tuple[tuple[type[Exception], Code], ...] = (
    (exceptions.NotAuthenticated, Code.MISSING_KEY),
    (exceptions.AuthenticationFailed, Code.INVALID_KEY),
    (exceptions.PermissionDenied, Code.INSUFFICIENT_SCOPE),
    (exceptions.NotFound, Code.NOT_FOUND),
    (exceptions.MethodNotAllowed, Code.METHOD_NOT_ALLOWED),
    (exceptions.NotAcceptable, Code.NOT_ACCEPTABLE),
    (exceptions.UnsupportedMediaType, Code.UNSUPPORTED_MEDIA_TYPE),
    (Http404, Code.NOT_FOUND),
    (actions.NotFound, Code.NOT_FOUND),
    (actions.Conflict, Code.CONFLICT),
    (actions.NotAllowed, Code.INSUFFICIENT_SCOPE),
    (actions.ProjectArchived, Code.PROJECT_ARCHIVED),
    (QueueFull, Code.QUEUE_FULL),
    (RateLimited, Code.RATE_LIMITED),
    (QuotaExceeded, Code.QUOTA_EXCEEDED),
    (IdempotencyMismatch, Code.IDEMPOTENCY_MISMATCH),
    (IdempotencyInProgress, Code.IDEMPOTENCY_IN_PROGRESS),
)


def problem_of(error: Exception) -> Problem | None:
    """Return the problem that an exception stands for; None for a defect."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, input_validation.BadInput | actions.Unfit):
        code = Code.TOO_LARGE if isinstance(error, input_validation.TooLarge) else Code.INVALID_REQUEST
        return invalid(str(error), at=error.at, code=code)
    cause = type(error.__cause__ or error).__name__
    if is_locked_out(error):
        _log.error("a request was ended, as another held the same rows: %s", cause)
        return Problem(Code.ROWS_LOCKED, "others held the same rows; what was being written is undone, send it again")
    if is_outage(error) or isinstance(error, actions.ProviderError):
        note_refusal(error)
        refusal = _REFUSALS.get(sqlstate_of(error), Code.DATABASE_UNAVAILABLE)
        problem = Problem(
            refusal if is_outage(error) else Code.MODEL_UNAVAILABLE, "nothing was changed; try again later"
        )
        _log.error("%s: %s", problem.title, cause)
        return problem
    if isinstance(error, DataError):
        _log.exception("a value passed validation but was rejected by the database")
        return Problem(Code.INVALID_REQUEST, "the request contains a value that can't be stored")
    if isinstance(error, exceptions.ValidationError):
        errors = [
            {"pointer": "".join(f"/{input_validation.pointer_part(each)}" for each in path), "message": message}
            for path, message in flattened(error.detail)
        ]
        detail = f"{errors[0]['pointer'] or 'the body'}: {errors[0]['message']}"
        return Problem(Code.INVALID_REQUEST, detail, errors=errors)
    known = next((code for kind, code in _CODES if isinstance(error, kind)), None)
    if known is None:
        return None
    detail = "" if known is Code.MISSING_KEY else str(getattr(error, "detail", error))
    return Problem(known, detail or _DETAILS.get(known, STATUS_AND_TITLE[known][1]))


def flattened(detail: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield path and message of each error in the detail of a ValidationError."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            yield from flattened(inner, path if name == "non_field_errors" else (*path, str(name)))
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            yield from flattened(inner, (*path, str(index)) if isinstance(inner, Mapping) else path)
    else:
        yield path, str(detail)
