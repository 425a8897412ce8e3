"""The models of both clients are those of the OpenAPI document, and the calls of this one exist there."""

import inspect
import json
import re
from io import StringIO
from typing import Any

from django.core.management import call_command

from memplatform_client import calls, import_calls
from scripts import client_models, client_types

# What the parameters of a call are named in the request.
ELSEWHERE = {"idempotency_key", "filters", "changes", "version", "cursor", "content"}
NO_CALLS = {"request", "answer", "dataclass", "field", "quote", "cast", "given", "in_path"}


def document() -> dict[str, Any]:
    written = StringIO()
    call_command("spectacular", "--format", "openapi-json", stdout=written)
    found: dict[str, Any] = json.loads(written.getvalue())
    return found


def test_models_and_calls_are_those_of_the_document() -> None:
    found = document()
    assert client_models.TARGET.read_text() == client_models.module(found), "run `make client-models`"
    of_typescript = client_types.first_line(client_types.schemas_of(found))
    assert client_types.TARGET.read_text().startswith(of_typescript), "run `make client-models` (with node)"
    operations = {
        operation["operationId"]: (method.upper(), path, operation)
        for path, methods in found["paths"].items()
        for method, operation in methods.items()
    }
    builders = [each for module in (calls, import_calls) for each in inspect.getmembers(module, inspect.isfunction)]
    for name, build in builders:
        if name in NO_CALLS or name.startswith("_"):
            continue
        method, path, operation = operations[{"search": "search_memories"}.get(name, name)]
        call = build(**{each: example(each) for each in required(build)})
        assert (call.method, re.sub(r"/x(?=/|$)", "/{}", call.path)) == (method, re.sub(r"{\w+}", "{}", path)), name
        named = set(inspect.signature(build).parameters) - ELSEWHERE
        assert named <= fields(operation, found), name


def required(build: Any) -> list[str]:
    parameters = inspect.signature(build).parameters.values()
    return [each.name for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]


def example(name: str) -> Any:
    return [] if name in ("turns", "memories", "operations") else {} if name == "changes" else "x"


def fields(operation: dict[str, Any], found: dict[str, Any]) -> set[str]:
    """Return the names of parameters and of fields of the body."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    schema = found["components"]["schemas"].get(body.get("$ref", "").rsplit("/", 1)[-1], {})
    return {each["name"] for each in operation.get("parameters", ())} | set(schema.get("properties", ()))
