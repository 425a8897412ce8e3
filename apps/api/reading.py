"""Read bodies and query strings into typed values, or say which value can't be taken."""

import re
import typing
from typing import Any, TypeVar

import msgspec
from rest_framework.request import Request

from apps.api.problems import Code, Problem, invalid
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.pipeline.core.input_validation import check_storable, pointer_part

_Shape = TypeVar("_Shape", bound=msgspec.Struct)
_WHERE = re.compile(r"^(?P<message>.*?)(?: - at `(?:key in )?\$(?P<path>[^`]*)`)?$", re.DOTALL)
_FIELD = re.compile(r"(?:missing required|contains unknown) field `(?P<field>.*)`$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def read_body(request: Request, shape: type[_Shape]) -> _Shape:
    """Return the body as a struct. Raises Problem with the JSON pointer of the first value that doesn't fit."""
    if "Transfer-Encoding" in request.headers and not request.headers.get("Content-Length"):
        # Django reads no body without its length, and the caller would be told that every field is missing.
        raise Problem(Code.LENGTH_REQUIRED, "send the body whole, with Content-Length")
    try:
        return msgspec.convert(request.data, shape)
    except msgspec.ValidationError as error:
        message, pointer = _explained(str(error))
        raise invalid(message, at=pointer) from error


def read_query(request: Request, shape: type[_Shape]) -> _Shape:
    """Return the query string as a struct. Raises Problem with the name of the first parameter that doesn't fit."""
    fields = {field.name: field for field in msgspec.structs.fields(shape)}
    values: dict[str, Any] = {}
    for name, given in request.query_params.lists():
        for text in given:
            check_storable(text, at=name)
        many = name in fields and _takes_many(fields[name].type)
        if not many and len(given) > 1:
            raise invalid("is given more than once", at=name)
        values[name] = given if many else given[0]
    try:
        return msgspec.convert(values, shape, strict=False)
    except msgspec.ValidationError as error:
        message, pointer = _explained(str(error))
        raise invalid(message, at=pointer.split("/")[1] if pointer else "query") from error


def read_id(prefix: Prefix, text: str, *, at: str = "") -> Any:
    """Return the UUID behind a shown identifier.

    Raises Problem: not_found for one in an address, invalid_request for one named by `at`.
    """
    try:
        return parse(prefix, text)
    except BadIdentifier as error:
        if at:
            raise invalid(str(error), at=at) from error
        raise not_found() from error


def not_found() -> Problem:
    """Say that there is no such thing in the caller's project."""
    return Problem(Code.NOT_FOUND, "there is no such thing in this project")


def _takes_many(kind: Any) -> bool:
    return any(typing.get_origin(each) is tuple for each in (kind, *typing.get_args(kind)))


def _explained(text: str) -> tuple[str, str]:
    """Split msgspec's message into what is wrong and the JSON pointer to it."""
    match = _WHERE.match(text)
    message, path = (match["message"], match["path"] or "") if match else (text, "")
    pointer = "".join(f"/{pointer_part(name or index)}" for name, index in _STEP.findall(path))
    field = _FIELD.search(message)
    return message, f"{pointer}/{pointer_part(field['field'])}" if field else pointer
