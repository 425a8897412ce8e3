"""Settings of the packages behind the REST interface: Django REST framework and drf-spectacular."""

from typing import Any

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.api.authentication.HasScope", "apps.api.authentication.ProjectTakesWrites"],
    "DEFAULT_RENDERER_CLASSES": ["apps.api.parsers.StructRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "apps.api.parsers.JsonNegotiation",
    "DEFAULT_PARSER_CLASSES": ["apps.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.api.problems.problem_response",
    "UNAUTHENTICATED_USER": None,
}


def openapi_settings(*, public_url: str) -> dict[str, Any]:
    """Return the settings of the OpenAPI document of a server with this address, which may be empty."""
    return {
        "TITLE": "memplatform",
        "DESCRIPTION": "The memory server for agents: turns in, the few statements worth keeping out.",
        "VERSION": "0.1.0",
        "SERVE_INCLUDE_SCHEMA": False,
        "SCHEMA_PATH_PREFIX": "/v1",
        "SERVERS": [{"url": public_url.rstrip("/") or "/"}],  # relative to the address that the document was read from
        "COMPONENT_SPLIT_PATCH": False,  # the body of a PATCH is a struct of its own
        "PREPROCESSING_HOOKS": ["apps.api.openapi_document.without_slash"],
        "POSTPROCESSING_HOOKS": [
            "drf_spectacular.hooks.postprocess_schema_enums",
            "apps.api.openapi_examples.with_descriptions",
            "apps.api.openapi_document.for_generators",
            "apps.api.openapi_examples.with_examples",
        ],
        "OAS_VERSION": "3.1.1",
        "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
        "SERVE_AUTHENTICATION": [],
        "SWAGGER_UI_DIST": "SIDECAR",
        "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
        "REDOC_DIST": "SIDECAR",
    }
