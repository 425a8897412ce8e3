"""Answers to requests that Django has not answered: problem documents below the API's URLs, plain text elsewhere."""

import json

from apps.api.error_handlers import is_api
from apps.api.problems import CONTENT_TYPE, Code, Problem
from memplatform.serving.event_streams import TooManyStreams
from memplatform.serving.request_body import BodyIncomplete, BodyTimeout, BodyTooLarge

_PROBLEMS: dict[type[Exception], Problem] = {
    BodyTooLarge: Problem(Code.TOO_LARGE, "the body exceeds the limit"),
    BodyTimeout: Problem(Code.REQUEST_TIMEOUT, "the body did not arrive in time"),
    TooManyStreams: Problem(Code.RATE_LIMITED, "as many streams of events are open as may be; read /v1/events"),
    BodyIncomplete: Problem(Code.INVALID_JSON, "the body is shorter than its Content-Length"),
}


def refuse(path: str, error: Exception) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return status, headers and body of the answer."""
    problem = _PROBLEMS[type(error)]
    if is_api(path):
        return problem.status, [("content-type", CONTENT_TYPE)], json.dumps(problem.document()).encode()
    return problem.status, [("content-type", "text/plain; charset=utf-8")], problem.detail.encode()
