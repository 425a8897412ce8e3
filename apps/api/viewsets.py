"""The base of viewsets, and what each of their operations declares for the request and the OpenAPI document."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import ViewSetMixin

from apps.api.base import ApiView, http_response
from apps.api.openapi import BYTES, IDEMPOTENCY_KEY, IF_MATCH, problem_responses
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.serializers import NoQuery, QuerySerializer, read_query, validated
from apps.api.validation import read_id, require_length
from apps.common.rows import get_or_refuse
from apps.intake.idempotency import ReplayableAnswer
from apps.pipeline.core.identifiers import Prefix

Method = TypeVar("Method", bound=Callable[..., Any])

# Problems that any request may get.
_ALWAYS = (
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
_OF_BODIES = (
    Code.INVALID_JSON,
    Code.INVALID_REQUEST,
    Code.LENGTH_REQUIRED,
    Code.TOO_LARGE,
    Code.UNSUPPORTED_MEDIA_TYPE,
)
_OF_BYTES = (Code.LENGTH_REQUIRED, Code.TOO_LARGE, Code.UNSUPPORTED_MEDIA_TYPE)
_OF_KEYS = (Code.IDEMPOTENCY_IN_PROGRESS, Code.IDEMPOTENCY_MISMATCH)


class ApiViewSet(ViewSetMixin, ApiView):
    """A viewset of the rows of the caller's project, in the transaction and tenant scope of the request.

    `query` are the validated query parameters of the operation. `prefix` is that of the identifiers of the rows.
    """

    prefix: Prefix
    queryset: QuerySet[Any]
    lookup_url_kwarg: str
    query: dict[str, Any]
    pagination_class = Pages

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check the caller, its limits, and the query parameters."""
        super().initial(request, *args, **kwargs)
        if handler := getattr(self, (request.method or "").lower(), None):
            self.query = read_query(request, getattr(handler, "query", NoQuery))

    def get_queryset(self) -> QuerySet[Any]:
        """Return the rows of the caller's project."""
        return self.queryset.filter(project_id=self.caller.project_id)

    @property
    def row_id(self) -> Any:
        """Return the UUID in the path. Raises Problem not_found."""
        return read_id(self.prefix, self.kwargs[self.lookup_url_kwarg])

    @property
    def named(self) -> dict[str, Any]:
        """Return project and row of the path as services take them. Raises Problem not_found."""
        return {"project_id": self.caller.project_id, self.lookup_url_kwarg: self.row_id}

    def get_object(self) -> Any:
        """Return the row that the path names. Raises NotFound."""
        return get_or_refuse(self.get_queryset().filter(pk=self.row_id), self.prefix.name.lower().replace("_", " "))

    def valid(self, serializer: type[BaseSerializer[Any]]) -> Any:
        """Return the validated body, usually a dictionary. Raises ValidationError."""
        require_length(self.request)
        return validated(serializer, self.request.data)

    def answer(self, serializer: type[BaseSerializer[Any]], value: Any, *, status: int = 200) -> Response:
        """Return the answer with a row or a value."""
        return Response(serializer(value).data, status=status)

    def answer_page(
        self, serializer: type[BaseSerializer[Any]], rows: QuerySet[Any], *, ordering: str = "-id"
    ) -> Response:
        """Return the page of rows that the query names. Raises Problem for an invalid cursor."""
        pages = Pages(limit=self.query["limit"], ordering=ordering)
        found = serializer(pages.read(rows, self.request), many=True)
        return Response({**pages.links(), "results": found.data})


def operation(
    operation_id: str,
    *,
    summary: str,
    body: Any = None,
    query: type[QuerySerializer] = NoQuery,
    answers: Mapping[Any, Any],
    problems: Iterable[Code] = (),
    example: Mapping[str, Any] | None = None,
    is_repeatable: bool = False,
    stores_answer: bool = True,
    kept: Mapping[str, Any] | None = None,
    is_versioned: bool = False,
) -> Callable[[Method], Method]:
    """Declare an operation of a viewset.

    `body` and `answers` (by status) are serializers. A repeatable operation takes an Idempotency-Key: its answer is
    stored for repetitions, with the values of `kept` in place of secrets, unless the method sees to that itself
    (`stores_answer`). A versioned one takes the version of what it changes in If-Match.
    """

    def decorated(method: Method) -> Method:
        @wraps(method)
        def answered(self: ApiViewSet, request: Request, *args: Any, **kwargs: Any) -> Any:
            if not (is_repeatable and stores_answer):
                return method(self, request, *args, **kwargs)

            def do() -> ReplayableAnswer:
                answer = method(self, request, *args, **kwargs)
                return ReplayableAnswer(status=answer.status_code, body=answer.data)

            return http_response(self.idempotent(do, kept=kept or {}))

        answered.query = query  # type: ignore[attr-defined]  # ApiViewSet.initial reads it
        codes = [*_ALWAYS, *problems, *(_OF_KEYS if is_repeatable else ())]
        codes += _OF_BYTES if body is bytes else _OF_BODIES if body else ()
        codes += [Code.INVALID_REQUEST] if query is not NoQuery else []
        headers = [*([IDEMPOTENCY_KEY] if is_repeatable else ()), *([IF_MATCH] if is_versioned else ())]
        described = extend_schema(
            operation_id=operation_id,
            summary=summary,
            request={"application/octet-stream": BYTES} if body is bytes else body,
            parameters=[*([query] if query is not NoQuery else ()), *headers],
            responses={**answers, **problem_responses(codes)},
            examples=[OpenApiExample("request", value=example, request_only=True)] if example else None,
        )
        return cast(Method, described(answered))

    return decorated
