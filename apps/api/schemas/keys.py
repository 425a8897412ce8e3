"""Schemas of /v1/keys."""

from typing import Annotated, Any

from msgspec import Meta

from apps.api.schemas.common import Moment, RequestBody, ResponseBody
from apps.pipeline.core.enums import MemorySharing, Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.models import ApiKey


class KeyBody(RequestBody):
    """An API key to create."""

    name: Annotated[str, Meta(min_length=1, max_length=120)]
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=len(Scope))]
    expires_at: Moment | None = None


class KeyResponse(ResponseBody):
    """An API key without its secret."""

    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None
    last_used_at: Moment | None


class KeyList(ResponseBody):
    """API keys, newest first."""

    next: str | None
    previous: str | None
    results: list[KeyResponse]


class CreatedKeyResponse(KeyResponse):
    """A new API key. `key` is returned only once; it is null in the response to a repeated request."""

    key: str | None


class CurrentKeyResponse(KeyResponse):
    """The API key of the request, its project, and whether agents share their memories there."""

    project_id: str
    memory_sharing: MemorySharing


def key_response(key: ApiKey) -> KeyResponse:
    """Convert a key."""
    return KeyResponse(**_fields(key))


def current_key_response(key: ApiKey, *, sharing: MemorySharing) -> CurrentKeyResponse:
    """Convert the key of a request."""
    return CurrentKeyResponse(**_fields(key), project_id=show(Prefix.PROJECT, key.project_id), memory_sharing=sharing)


def created_key_response(key: ApiKey, *, text: str) -> CreatedKeyResponse:
    """Convert a new key together with its secret."""
    return CreatedKeyResponse(**_fields(key), key=text)


def _fields(key: ApiKey) -> dict[str, Any]:
    return {
        "id": show(Prefix.API_KEY, key.id),
        "name": key.name,
        "prefix": f"mp_{key.prefix}",
        "scopes": [Scope(scope) for scope in key.scopes],
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }
