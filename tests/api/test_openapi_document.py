"""The API keeps what its OpenAPI document says, whatever is sent."""

from typing import Any

from apps.actions.keys import create_key
from apps.pipeline.core.enums import Scope
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
