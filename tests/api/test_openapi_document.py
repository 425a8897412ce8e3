"""The API keeps what its OpenAPI document says, whatever is sent."""

from collections.abc import Iterator
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from apps.api.openapi_examples import descriptions
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.tenants.models import Project
from tests.api.openapi_run import check_document
from tests.soak import is_soak

MADE_IN_EVERY_RUN = {
    "content_type_conformance",
    "ignored_auth",
    "missing_required_header",
    "negative_data_rejection",
    "not_a_server_error",
    "positive_data_acceptance",
    "response_headers_conformance",
    "response_schema_conformance",
    "status_code_conformance",
    "unsupported_method",
    "use_after_free",
}


def test_answers_are_as_the_document_says(project: Project, settings: Any) -> None:
    """Documented statuses, types and schemas; keys needed; invalid data refused, valid data taken, the deleted gone."""
    settings.EVENT_STREAM_SECONDS = 0.0  # the caller reads answers to their end
    key = create_key(project_id=project.pk, name="all", scopes=list(Scope)).text
    found = check_document(key=key, examples=20 if is_soak() else 1, limits_of_each=1 if is_soak() else 10)
    assert not found.failures, "\n".join(sorted(found.failures))
    assert found.checks.keys() >= MADE_IN_EVERY_RUN, found.checks


def test_each_property_and_parameter_is_described() -> None:
    """One name has one meaning: descriptions are by name, and none describes what does not exist."""
    document = openapi_document()
    schemas = document["components"]["schemas"]
    properties = {f"{schema}.{name}": field for schema, found in schemas.items() for name, field in _fields(found)}
    parameters = [
        parameter
        for operations in document["paths"].values()
        for operation in operations.values()
        for parameter in operation.get("parameters", ())
    ]
    assert [place for place, field in properties.items() if not field.get("description")] == []
    assert [each["name"] for each in parameters if not each.get("description")] == []
    general, special = descriptions()
    names = {place.partition(".")[2] for place in properties} | {each["name"] for each in parameters}
    assert sorted(general.keys() - names) == []
    assert sorted(special.keys() - properties.keys()) == []


def test_values_of_enums_are_lower_case() -> None:
    enums = [value for value in _enum_values(openapi_document()) if isinstance(value, str)]
    assert [value for value in enums if value != value.lower()] == []


def openapi_document() -> dict[str, Any]:
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


def _fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()


def _enum_values(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node.get("enum", ())
        for each in node.values():
            yield from _enum_values(each)
    elif isinstance(node, list):
        for each in node:
            yield from _enum_values(each)
