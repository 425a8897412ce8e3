"""Convert bodies, query strings and identifiers to typed values, or report which value is invalid."""

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
    """Return the body as a struct. Raises Problem with the JSON pointer of the first invalid value."""
    if "Transfer-Encoding" in request.headers and not request.headers.get("Content-Length"):
        # Django reads no body without its length, so every field would be reported as missing.
        raise Problem(Code.LENGTH_REQUIRED, "send the body with Content-Length instead of in chunks")
    try:
        return msgspec.convert(request.data, shape)
    except msgspec.ValidationError as error:
        message, pointer = _parse_error(str(error))
        raise invalid(message, at=pointer) from error


def read_query(request: Request, shape: type[_Shape]) -> _Shape:
    """Return the query string as a struct. Raises Problem with the name of the first invalid parameter."""
    fields = {field.name: field for field in msgspec.structs.fields(shape)}
    values: dict[str, Any] = {}
    for name, given in request.query_params.lists():
        for text in given:
            check_storable(text, at=name)
        many = name in fields and _is_repeatable(fields[name].type)
        if not many and len(given) > 1:
            raise invalid("is given more than once", at=name)
        values[name] = given if many else given[0]
    try:
        return msgspec.convert(values, shape, strict=False)
    except msgspec.ValidationError as error:
        message, pointer = _parse_error(str(error))
        raise invalid(message, at=pointer.split("/")[1] if pointer else "query") from error


def read_id(prefix: Prefix, text: str, *, at: str = "") -> Any:
    """Return the UUID of a public identifier such as `mem_…`.

    Raises Problem: not_found for an identifier in the URL, invalid_request if `at` names its place in the request.
    """
    try:
        return parse(prefix, text)
    except BadIdentifier as error:
        if at:
            raise invalid(str(error), at=at) from error
        raise not_found() from error


def not_found() -> Problem:
    """Return the problem that nothing with this identifier exists in the caller's project."""
    return Problem(Code.NOT_FOUND, "not found in this project")


def _is_repeatable(kind: Any) -> bool:
    return any(typing.get_origin(each) is tuple for each in (kind, *typing.get_args(kind)))


def _parse_error(text: str) -> tuple[str, str]:
    """Split a message of msgspec into its text and a JSON pointer."""
    match = _WHERE.match(text)
    message, path = (match["message"], match["path"] or "") if match else (text, "")
    pointer = "".join(f"/{pointer_part(name or index)}" for name, index in _STEP.findall(path))
    field = _FIELD.search(message)
    return message, f"{pointer}/{pointer_part(field['field'])}" if field else pointer
