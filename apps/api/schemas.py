"""Base classes and types shared by request and response schemas."""

from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.input_validation import METADATA_BYTES, METADATA_DEPTH, BadInput, check_json, checked_name

Identifier = Annotated[str, Meta(min_length=1, max_length=255)]
Label = Annotated[str, Meta(max_length=120)]
Topic = Annotated[str, Meta(max_length=64)]
Share = Annotated[float, Meta(ge=0, le=1)]
Limit = Annotated[int, Meta(ge=1, le=200)]
Metadata = dict[str, Any]
# msgspec names the format only of times that must have an offset; here one without is taken as UTC.
Moment = Annotated[datetime, Meta(extra_json_schema={"format": "date-time"})]
# Times of a filter: a date alone is the whole day in UTC, from its start or up to its end.
_TIME_OR_DATE = {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "string", "format": "date"}]}
DayStart = Annotated[
    datetime,
    Meta(
        extra={"time_of_day": "00:00:00"},
        extra_json_schema={"description": "A time, or a date alone for its start in UTC.", **_TIME_OR_DATE},
    ),
]
DayEnd = Annotated[
    datetime,
    Meta(
        extra={"time_of_day": "23:59:59.999999"},
        extra_json_schema={"description": "A time, or a date alone for its end in UTC.", **_TIME_OR_DATE},
    ),
]

CONTENT_CHARACTERS = 20_000


class RequestBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request body; an unknown field is an error."""


class AgentScopeBody(RequestBody):
    """A request body that names the agent, the application and the run that it comes from or is about."""

    agent_id: Identifier | None = None
    app_id: Identifier | None = None
    run_id: Identifier | None = None


class QueryParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of a request; an unknown parameter is an error."""


class AgentScopeQuery(QueryParameters):
    """Query parameters that name an agent, an application and a run."""

    agent_id: Identifier | None = None
    app_id: Identifier | None = None
    run_id: Identifier | None = None


class PageQuery(QueryParameters):
    """Paging of a list."""

    cursor: str | None = None
    limit: Limit = 50


class ResponseBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a response."""


class PageBody(ResponseBody):
    """A page of a list: the addresses of the pages beside it; null at an end."""

    next: str | None
    previous: str | None


Shape = TypeVar("Shape", bound=ResponseBody)


def response_of(shape: type[Shape], row: object, **values: Any) -> Shape:
    """Convert a row: `values` are given, all other fields are its attributes."""
    own = {name: getattr(row, name) for name in shape.__struct_fields__ if name not in values}
    return shape(**own, **values)


class FieldError(ResponseBody):
    """One invalid value: `pointer` is a JSON pointer into the body, `parameter` the name of a parameter or header."""

    message: str
    pointer: str = ""
    parameter: str = ""


class ProblemDocument(ResponseBody):
    """An error (RFC 9457). `code` is stable and meant for programs, `detail` for people.

    `request_id` is that of `X-Request-Id`; the server's log lines about the request name it.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    request_id: str = ""
    errors: list[FieldError] = []


class AdjustmentResponse(ResponseBody):
    """A value that was taken otherwise than it was sent, by its JSON pointer."""

    pointer: str
    message: str


class SkippedResponse(ResponseBody):
    """A message that was not taken, by the JSON pointer of the value that prevents it, and why.

    The other messages of the request are taken. If none is left, the request is refused instead.
    """

    pointer: str
    message: str


def adjusted_text(given: str | None, taken: str, *, at: str) -> AdjustmentResponse | None:
    """Report a text from which characters were removed."""
    if not given or given == taken:
        return None
    return AdjustmentResponse(pointer=at, message="characters that carry no words were removed or replaced")


def adjusted_time(given: datetime | None, taken: datetime | None, *, at: str) -> AdjustmentResponse | None:
    """Report a time that was moved; a time without an offset is in UTC."""
    if given is None or taken is None or (given if given.tzinfo else given.replace(tzinfo=UTC)) == taken:
        return None
    return AdjustmentResponse(pointer=at, message=f"lies ahead of the clock; taken as {taken.isoformat()}")


def checked_names(names: tuple[str, ...], *, at: str) -> tuple[str, ...]:
    """Return names unchanged. Raises BadInput with the pointer of the first invalid one."""
    return tuple(checked_name(name, at=f"{at}/{index}") for index, name in enumerate(names))


def checked_scope(given: AgentScopeBody | AgentScopeQuery, *, at: str = "/") -> AgentScope:
    """Return the scope that a body or query names. Raises BadInput with `at` before the name of the field."""
    return AgentScope(
        agent_id=checked_name(given.agent_id or "", at=f"{at}agent_id"),
        app_id=checked_name(given.app_id or "", at=f"{at}app_id"),
        run_id=checked_name(given.run_id or "", at=f"{at}run_id"),
    )


def checked_metadata(metadata: Metadata | None, *, at: str) -> Metadata:
    """Return metadata unchanged, None as an empty object. Raises BadInput above 8 KiB or 8 levels."""
    if not metadata:
        return {}
    if len(msgspec.json.encode(metadata)) > METADATA_BYTES:
        raise BadInput(f"is larger than {METADATA_BYTES:,} bytes", at=at)
    try:
        check_json(metadata, max_depth=METADATA_DEPTH)
    except BadInput as bad:  # without the place within it
        raise BadInput(str(bad), at=at) from bad
    return metadata
