"""Shapes of /v1/keys."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from apps.api.schemas.common import Answer, Body, Limit, Query
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants.models import ApiKey


class KeyBody(Body):
    """A key to make."""

    name: Annotated[str, Meta(min_length=1, max_length=120)]
    scopes: Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=3)]
    expires_at: datetime | None = None


class KeysQuery(Query):
    """How many keys to list."""

    cursor: str | None = None
    limit: Limit = 50


class KeyAnswer(Answer):
    """A key, without its secret."""

    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class KeyPage(Answer):
    """Keys, the newest first."""

    next: str | None
    previous: str | None
    results: list[KeyAnswer]


class CreatedKeyAnswer(KeyAnswer):
    """A new key. `key` is shown this once; a repeated request finds it null."""

    key: str | None


def key_answer(key: ApiKey) -> KeyAnswer:
    """Show a key."""
    return KeyAnswer(**_fields(key))


def created_key_answer(key: ApiKey, *, text: str) -> CreatedKeyAnswer:
    """Show a new key with its text."""
    return CreatedKeyAnswer(**_fields(key), key=text)


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
