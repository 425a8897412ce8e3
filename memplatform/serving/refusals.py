"""Answers to requests that Django has not answered: problem documents below the API's URLs, plain text elsewhere."""

import json

from structlog.contextvars import bound_contextvars

from apps.api.error_handlers import is_api
from apps.api.problems import CONTENT_TYPE, Code, Problem
from memplatform.request_telemetry import REQUEST_ID_HEADER, count_refused, request_id_of
from memplatform.serving.protocol import Scope
from memplatform.serving.request_body import BodyIncomplete, BodyTimeout, BodyTooLarge

_PROBLEMS: dict[type[Exception], Problem] = {
    BodyTooLarge: Problem(Code.TOO_LARGE, "the body exceeds the limit"),
    BodyTimeout: Problem(Code.REQUEST_TIMEOUT, "the body did not arrive in time"),
    BodyIncomplete: Problem(Code.INVALID_JSON, "the body is shorter than its Content-Length"),
}


_NO_STREAM = Problem(Code.RATE_LIMITED, "as many streams of events are open as may be; read /v1/events")
_RETRY_SECONDS = 10


def no_stream() -> tuple[int, list[tuple[str, str]], bytes]:
    """Return the answer to a caller that gets no stream of events; Django has counted the request."""
    headers = [("content-type", CONTENT_TYPE), ("retry-after", str(_RETRY_SECONDS))]
    return _NO_STREAM.status, headers, json.dumps(_NO_STREAM.document()).encode()


def refuse(scope: Scope, error: Exception) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return status, headers and body of the answer to a request whose body was not read."""
    problem = _PROBLEMS[type(error)]
    request_id = request_id_of(scope.headers.get(REQUEST_ID_HEADER.lower()))
    headers = [(REQUEST_ID_HEADER.lower(), request_id)]
    count_refused(method=scope.method, status=problem.status)
    if not is_api(scope.path):
        return problem.status, [("content-type", "text/plain; charset=utf-8"), *headers], problem.detail.encode()
    with bound_contextvars(request_id=request_id):
        body = json.dumps(problem.document()).encode()
    return problem.status, [("content-type", CONTENT_TYPE), *headers], body
