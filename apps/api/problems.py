"""Errors as RFC 9457 problem documents, each with a stable code that docs/errors.md explains."""

import logging
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from django.db import DataError, InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response

from apps.actions import errors as actions
from apps.intake.backpressure import QueueFull
from apps.intake.idempotency import IdempotencyInProgress, IdempotencyMismatch
from apps.pipeline.core import input_validation

CONTENT_TYPE = "application/problem+json"
_log = logging.getLogger(__name__)


class Code(StrEnum):
    """What went wrong, for programs; a code never changes its meaning."""

    INVALID_JSON = "invalid_json"
    INVALID_REQUEST = "invalid_request"
    MISSING_KEY = "missing_key"
    INVALID_KEY = "invalid_key"
    INSUFFICIENT_SCOPE = "insufficient_scope"
    NOT_FOUND = "not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    NOT_ACCEPTABLE = "not_acceptable"
    CONFLICT = "conflict"
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
    LENGTH_REQUIRED = "length_required"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    QUEUE_FULL = "queue_full"
    INTERNAL = "internal"
    UNAVAILABLE = "unavailable"


STATUS_AND_TITLE: dict[Code, tuple[int, str]] = {
    Code.INVALID_JSON: (400, "The body is not valid JSON"),
    Code.INVALID_REQUEST: (422, "The request holds a value that can't be taken"),
    Code.MISSING_KEY: (401, "An API key is needed"),
    Code.INVALID_KEY: (401, "The API key is not valid"),
    Code.INSUFFICIENT_SCOPE: (403, "The API key lacks a scope"),
    Code.NOT_FOUND: (404, "There is no such thing"),
    Code.METHOD_NOT_ALLOWED: (405, "The method is not allowed here"),
    Code.NOT_ACCEPTABLE: (406, "Only JSON can be answered"),
    Code.CONFLICT: (409, "The thing has changed meanwhile"),
    Code.IDEMPOTENCY_IN_PROGRESS: (409, "The first request of this key is still running"),
    Code.LENGTH_REQUIRED: (411, "The length of the body is needed"),
    Code.TOO_LARGE: (413, "The request is too large"),
    Code.UNSUPPORTED_MEDIA_TYPE: (415, "Only application/json is taken"),
    Code.IDEMPOTENCY_MISMATCH: (422, "The Idempotency-Key was used for another request"),
    Code.QUEUE_FULL: (429, "The project's queue is full"),
    Code.INTERNAL: (500, "Something went wrong on our side"),
    Code.UNAVAILABLE: (503, "The service can't answer right now"),
}


class Problem(Exception):
    """An error that a caller gets to see; `errors` name single values by pointer or parameter."""

    def __init__(self, code: Code, detail: str, *, errors: Sequence[dict[str, str]] = ()) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.errors = tuple(errors)

    @property
    def status(self) -> int:
        """Return the HTTP status that belongs to the code."""
        return STATUS_AND_TITLE[self.code][0]

    def document(self) -> dict[str, Any]:
        """Return the problem document."""
        document: dict[str, Any] = {
            "type": f"urn:memplatform:problem:{self.code}",
            "title": STATUS_AND_TITLE[self.code][1],
            "status": self.status,
            "detail": self.detail,
            "code": self.code.value,
        }
        return {**document, "errors": list(self.errors)} if self.errors else document


def invalid(message: str, *, at: str, code: Code = Code.INVALID_REQUEST) -> Problem:
    """Say which value can't be taken: a JSON pointer begins with a slash or is empty, a parameter's name doesn't."""
    place = "pointer" if not at or at.startswith("/") else "parameter"
    return Problem(code, f"{at or 'the body'}: {message}", errors=[{place: at, "message": message}])


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Translate an exception of a view (DRF's EXCEPTION_HANDLER); None leaves it to Django's own handling."""
    problem = _problem_of(error)
    if problem is None:
        return None
    headers = _headers(error, context)
    return Response(problem.document(), status=problem.status, headers=headers, content_type=CONTENT_TYPE)


def _headers(error: Exception, context: dict[str, Any]) -> dict[str, str]:
    if challenge := getattr(error, "auth_header", None):
        return {"WWW-Authenticate": challenge}
    if isinstance(error, QueueFull):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, exceptions.MethodNotAllowed):
        return {"Allow": ", ".join(context["view"].allowed_methods)}
    return {}


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
    (QueueFull, Code.QUEUE_FULL),
    (IdempotencyMismatch, Code.IDEMPOTENCY_MISMATCH),
    (IdempotencyInProgress, Code.IDEMPOTENCY_IN_PROGRESS),
)


def _problem_of(error: Exception) -> Problem | None:
    if isinstance(error, Problem):
        return error
    if isinstance(error, input_validation.BadInput | actions.Unfit):
        code = Code.TOO_LARGE if isinstance(error, input_validation.TooLarge) else Code.INVALID_REQUEST
        return invalid(str(error), at=error.at, code=code)
    if isinstance(error, OperationalError | InterfaceError | actions.ProviderError):
        _log.exception("the database or a provider can't be reached")
        return Problem(Code.UNAVAILABLE, "the database or a model can't be reached; try again")
    if isinstance(error, DataError):
        _log.exception("a value got past the door")
        return Problem(Code.INVALID_REQUEST, "the request holds a value that can't be stored")
    for kind, code in _CODES:
        if isinstance(error, kind):
            return Problem(code, _detail(error))
    return None


def _detail(error: Exception) -> str:
    return str(getattr(error, "detail", error)) or STATUS_AND_TITLE[Code.NOT_FOUND][1]
