"""The OpenAPI document: an example for every successful answer, and what generators of clients need to know."""

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from jsonschema import Draft202012Validator

Operation = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    written = StringIO()
    call_command("spectacular", "--format", "openapi-json", stdout=written)
    found: dict[str, Any] = json.loads(written.getvalue())
    return found


def answers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the JSON body of each successful answer, with the operation's name."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                body = response.get("content", {}).get("application/json")
                if status.startswith("2") and body and "$ref" in body["schema"]:
                    yield f"{operation['operationId']} {status}", body


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from nodes(each)
    if isinstance(value, dict):
        yield value


def test_every_successful_answer_has_an_example_that_fits(document: dict[str, Any]) -> None:
    found = dict(answers(document))
    assert len(found) > 40
    for name, body in found.items():
        schema = {**body["schema"], "components": document["components"]}
        for example in body["examples"].values():
            misfits = [error.message for error in Draft202012Validator(schema).iter_errors(example["value"])]
            assert misfits == [], name
    searched = found["search_memories 200"]["examples"]["Response"]["value"]["results"]
    assert (searched[0]["content"], searched[0]["id"][:4]) == ("Ana lives in Lisbon.", "mem_")


def test_what_generators_need(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert document["servers"] == [{"url": "/"}]
    assert not [name for name, schema in schemas.items() for node in nodes(schema) if node.get("items") is False]
    bodies = {name: schema for name, schema in schemas.items() if name.endswith("Body")}
    optional = [
        field for body in bodies.values() for field in body.get("properties", {}).values() if "default" in field
    ]
    assert optional == []  # TypeScript would require them
    assert (
        schemas["MemoryResponse"]["properties"]["metadata"].items()
        >= {"type": "object", "additionalProperties": {}}.items()
    )
    assert schemas["SampleResponse"]["properties"]["created_at"].items() >= {"format": "date-time"}.items()
    for method in ("patch", "delete"):
        parameters = document["paths"]["/v1/memories/{memory_id}"][method]["parameters"]
        assert "If-Match" in [each["name"] for each in parameters]


def test_times_are_named_as_times(document: dict[str, Any]) -> None:
    """Fields named like a time have a format, also where they may be null."""
    for schema in document["components"]["schemas"].values():
        for name, field in schema.get("properties", {}).items():
            if name.endswith("_at"):
                assert any("format" in node for node in nodes(field)), (schema.get("title"), name)
