"""Convert bodies, query strings and identifiers to typed values, or report which value is invalid."""

import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar

import msgspec
from rest_framework.request import Request

from apps.api.problems import Code, Problem, invalid
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.pipeline.core.input_validation import check_storable, pointer_part

_Shape = TypeVar("_Shape", bound=msgspec.Struct)
_WHERE = re.compile(r"^(?P<message>.*?)(?: - at `(?:key in )?\$(?P<path>[^`]*)`)?$", re.DOTALL)
_FIELD = re.compile(r"(?:missing required|contains unknown) field `(?P<field>.*)`$", re.DOTALL)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"\d{4}-")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def read_body(request: Request, shape: type[_Shape]) -> _Shape:
    """Return the body as a struct. Raises Problem with the JSON pointer of the first invalid value."""
    require_length(request)
    return read_value(request.data, shape)


def read_bytes(request: Request) -> bytes:
    """Return a body that is not JSON; empty without one. Raises Problem."""
    require_length(request)
    content: Any = request.data
    return content if isinstance(content, bytes) else b""


def require_length(request: Request) -> None:
    """Refuse a body without its length. Raises Problem."""
    if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
        # Django reads no body without its length, so every field would be reported as missing.
        raise Problem(Code.LENGTH_REQUIRED, "send the body with Content-Length instead of in chunks")


def read_value(value: Any, shape: type[_Shape]) -> _Shape:
    """Return a part of a body as a struct. Raises Problem with the JSON pointer of the first invalid value."""
    try:
        return msgspec.convert(_with_times_of_day(value, shape), shape)
    except msgspec.ValidationError as error:
        message, pointer = _parse_error(str(error))
        raise invalid(f"{message}{_allowed(shape, pointer, message)}", at=pointer) from error


def read_query(request: Request, shape: type[_Shape]) -> _Shape:
    """Return the query string as a struct. Raises Problem with the name of the first invalid parameter."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(shape)}
    values: dict[str, Any] = {}
    for name, given in request.query_params.lists():
        for text in given:
            check_storable(text, at=name)
            if name in fields:
                _refuse_other_spellings(text, fields[name].type, at=name)
        many = name in fields and _is_repeatable(fields[name].type)
        if not many and len(given) > 1:
            raise invalid("is given more than once", at=name)
        values[name] = given if many else given[0]
    try:
        return msgspec.convert(_with_times_of_day(values, shape), shape, strict=False)
    except msgspec.ValidationError as error:
        message, pointer = _parse_error(str(error))
        name = pointer.split("/")[1] if pointer else "query"
        raise invalid(f"{message}{_allowed(shape, pointer, message)}", at=name) from error


def refuse_parameters(request: Request) -> None:
    """Raise Problem with the name of the first parameter of a request that takes none."""
    for name in request.query_params if request.META["QUERY_STRING"] else ():
        check_storable(name, at="query")
        raise invalid("is not a parameter of this endpoint", at=name)


def read_ids(prefix: Prefix, texts: Sequence[str], *, at: str) -> list[Any]:
    """Return the UUIDs of the identifiers in a list of a body. Raises Problem invalid_request with the place."""
    return [read_id(prefix, each, at=f"{at}/{place}") for place, each in enumerate(texts)]


def read_id(prefix: Prefix, text: str, *, at: str = "") -> Any:
    """Return the UUID of a public identifier such as `mem_…`.

    Raises Problem: not_found for an identifier in the URL, invalid_request if `at` names its place in the request.
    """
    try:
        return parse(prefix, text)
    except BadIdentifier as error:
        if at:
            raise invalid(str(error), at=at) from error
        raise Problem(Code.NOT_FOUND, str(error)) from error


def not_found() -> Problem:
    """Return the problem that nothing with this identifier exists in the caller's project."""
    return Problem(Code.NOT_FOUND, "not found in this project")


def _is_repeatable(kind: Any) -> bool:
    return any(typing.get_origin(each) is tuple for each in (kind, *typing.get_args(kind)))


def _refuse_other_spellings(text: str, kind: Any, *, at: str) -> None:
    """Raise Problem for what msgspec takes in a query and the document does not name: null, and times as numbers."""
    kinds = list(_alternatives(kind))
    if str not in kinds and text.lower() == "null":
        raise invalid("must have a value; leave the parameter out instead", at=at)
    if datetime in kinds and not _YEAR.match(text):
        raise invalid("must be a time such as 2026-03-02T09:12:00Z, or a date", at=at)


def _with_times_of_day(values: Any, shape: type[msgspec.Struct]) -> Any:
    """Return values in which a date without a time is the moment that its field stands for (DayStart, DayEnd).

    Structs within structs are looked into, but not those in arrays.
    """
    if not isinstance(values, Mapping):
        return values
    times = _times_in(shape)
    return {name: _with_time_of_day(value, *times[name]) if name in times else value for name, value in values.items()}


def _with_time_of_day(value: Any, time_of_day: str | None, struct: type[msgspec.Struct] | None) -> Any:
    if time_of_day and isinstance(value, str) and _DAY.fullmatch(value):
        return f"{value}T{time_of_day}Z"
    return value if struct is None else _with_times_of_day(value, struct)


@cache
def _times_in(shape: type[msgspec.Struct]) -> Mapping[str, tuple[str | None, type[msgspec.Struct] | None]]:
    """Return, by the names in JSON of fields, the time of day that a date gets, and the struct that may hold dates."""
    found: dict[str, tuple[str | None, type[msgspec.Struct] | None]] = {}
    for field in msgspec.structs.fields(shape):
        times = [meta.extra["time_of_day"] for meta in _metas(field.type) if meta.extra and "time_of_day" in meta.extra]
        struct = next((each for each in _alternatives(field.type) if _is_struct(each)), None)
        if times or struct is not None:
            found[field.encode_name] = (times[0] if times else None, struct)
    return found


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _metas(kind: Any) -> Iterator[msgspec.Meta]:
    yield from (each for each in getattr(kind, "__metadata__", ()) if isinstance(each, msgspec.Meta))
    for each in typing.get_args(kind):
        yield from _metas(each)


def _allowed(shape: type[msgspec.Struct], pointer: str, message: str) -> str:
    """Name the fields that are known beside an unknown one, or the values of an enum; "" for other places."""
    if "unknown field" in message:
        structs = [kind for kind in _kinds_at(shape, pointer.rpartition("/")[0]) if _is_struct(kind)]
        known = sorted({field.encode_name for kind in structs for field in msgspec.structs.fields(kind)})
        return f"; known are {', '.join(known)}" if known else ""
    return _allowed_values(shape, pointer)


def _kinds_at(shape: type[msgspec.Struct], pointer: str) -> Sequence[Any]:
    """Return the types that a value at a pointer may have."""
    kinds: Sequence[Any] = [shape]
    for step in pointer.split("/")[1:]:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)]
    return kinds


def _allowed_values(shape: type[msgspec.Struct], pointer: str) -> str:
    """Name the values that an enum at a pointer can have; "" if there is something else."""
    kinds = _kinds_at(shape, pointer)
    enums = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    return "".join(f"; allowed: {', '.join(str(each.value) for each in kind)}" for kind in enums)


def _inside(kind: Any, step: str) -> Iterator[Any]:
    """Yield the types that a value of a type may hold under a name or an index."""
    if _is_struct(kind):
        found = [field.type for field in msgspec.structs.fields(kind) if field.encode_name == step]
    else:
        found = list(typing.get_args(kind)) if step.isdecimal() else []
    for each in found:
        yield from _alternatives(each)


def _alternatives(kind: Any) -> Iterator[Any]:
    """Yield a type without its annotations, or each member of a union."""
    if hasattr(kind, "__metadata__"):
        yield from _alternatives(kind.__origin__)
    elif typing.get_origin(kind) in (typing.Union, UnionType):
        for each in typing.get_args(kind):
            yield from _alternatives(each)
    else:
        yield kind


def _parse_error(text: str) -> tuple[str, str]:
    """Split a message of msgspec into its text and a JSON pointer."""
    match = _WHERE.match(text)
    message, path = (match["message"], match["path"] or "") if match else (text, "")
    pointer = "".join(f"/{pointer_part(name or index)}" for name, index in _STEP.findall(path))
    field = _FIELD.search(message)
    return message, f"{pointer}/{pointer_part(field['field'])}" if field else pointer
