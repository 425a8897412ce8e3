"""Operations of the API: methods of views that take and return structs, as their annotations say."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial, wraps
from typing import Any, get_type_hints

import msgspec
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView, http_response, to_json
from apps.api.openapi import BYTES, IDEMPOTENCY_KEY, IF_MATCH, parameters_of, problem_responses
from apps.api.problems import Code
from apps.api.validation import read_body, read_query
from apps.intake.idempotency import ReplayableAnswer

Method = Callable[..., Any]

# Problems that any request may get.
ALWAYS = (
    Code.MISSING_KEY,
    Code.INVALID_KEY,
    Code.INSUFFICIENT_SCOPE,
    Code.NOT_ACCEPTABLE,
    Code.RATE_LIMITED,
    Code.DATABASE_UNAVAILABLE,
    Code.DISK_FULL,
    Code.READ_ONLY,
    Code.MODEL_UNAVAILABLE,
    Code.ROWS_LOCKED,
)
OF_BODIES = (
    Code.INVALID_JSON,
    Code.INVALID_REQUEST,
    Code.LENGTH_REQUIRED,
    Code.TOO_LARGE,
    Code.UNSUPPORTED_MEDIA_TYPE,
)
OF_BYTES = (Code.LENGTH_REQUIRED, Code.TOO_LARGE, Code.UNSUPPORTED_MEDIA_TYPE)
OF_KEYS = (Code.IDEMPOTENCY_IN_PROGRESS, Code.IDEMPOTENCY_MISMATCH)


def operation(
    name: str,
    *,
    summary: str,
    status: int = 200,
    responses: Mapping[int, Any] | Mapping[tuple[int, str], Any] | None = None,
    takes_bytes: bool = False,
    problems: Iterable[Code] = (),
    example: dict[str, Any] | None = None,
    repeatable: bool = False,
    kept: Mapping[str, Any] | None = None,
    versioned: bool = False,
) -> Callable[[Method], Method]:
    """Make a method of an ApiView an operation: its parameters `body` and `query` are read from the request.

    A struct that it returns is sent as JSON with `status`, None as 204; `responses` describe what annotations can't.
    Without `query` the operation refuses query parameters. A `repeatable` one takes an Idempotency-Key: the struct or
    ReplayableAnswer that it returns is stored for repetitions, with the values of `kept` in place of secrets. One that
    returns an HttpResponse sees to that itself.
    A `versioned` one takes the version of what it changes in If-Match. One that `takes_bytes` has a body that is not
    JSON.
    """

    def decorated(method: Method) -> Method:
        hints = get_type_hints(method, include_extras=True)
        body, query, returned = hints.get("body"), hints.get("query"), hints["return"]
        is_empty = returned is type(None)

        @wraps(method)
        def answered(self: ApiView, request: Request, **path: Any) -> Any:
            if body:
                path["body"] = read_body(request, body)
            if query:
                path["query"] = read_query(request, query)
            do = partial(method, self, request, **path)
            if repeatable and returned is not HttpResponse:
                return http_response(self.idempotent(lambda: _replayable(do(), status), kept=kept or {}))
            answer = do()
            if answer is None:
                return Response(status=204)
            return Response(to_json(answer), status=status) if isinstance(answer, msgspec.Struct) else answer

        codes = [*ALWAYS, *problems, *(OF_BODIES if body else ()), *(OF_KEYS if repeatable else ())]
        codes += [*(OF_BYTES if takes_bytes else ()), *([Code.INVALID_REQUEST] if query else ())]
        headers = [*([IDEMPOTENCY_KEY] if repeatable else ()), *([IF_MATCH] if versioned else ())]
        answers = responses or {204 if is_empty else status: None if is_empty else returned}
        described: Method = extend_schema(
            operation_id=name,
            summary=summary,
            request={"application/octet-stream": BYTES} if takes_bytes else body,
            parameters=[*(parameters_of(query) if query else ()), *headers],
            responses={**answers, **problem_responses(codes)},
            examples=[OpenApiExample("request", value=example, request_only=True)] if example else None,
        )(answered)
        described.takes_query = query is not None  # type: ignore[attr-defined]  # ApiView.initial reads it
        return described

    return decorated


def _replayable(answer: msgspec.Struct | ReplayableAnswer, status: int) -> ReplayableAnswer:
    return answer if isinstance(answer, ReplayableAnswer) else ReplayableAnswer(status=status, body=to_json(answer))
