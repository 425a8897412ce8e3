"""Tell who calls, by an API key in one of three headers."""

import threading
from dataclasses import dataclass
from uuid import UUID

from cachetools import TTLCache
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from apps.pipeline.core.enums import Scope
from apps.tenants import keys

REFUSED = "the API key is not valid"
REMEMBERED_SECONDS = 60.0  # as often as the use of a key is noted
REMEMBERED_KEYS = 10_000
_SCHEMES = ("bearer", "token")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: a key of one project, with its scopes."""

    project_id: UUID
    api_key_id: UUID
    scopes: frozenset[Scope]

    @property
    def is_authenticated(self) -> bool:
        """Say yes: there is no caller without a key."""
        return True

    def may(self, scope: Scope) -> bool:
        """Tell whether a scope was given; ADMIN includes the others."""
        return scope in self.scopes or Scope.ADMIN in self.scopes


class ApiKeyAuthentication(BaseAuthentication):
    """Take `Authorization: Bearer mp_…`, `Authorization: Token mp_…` or `X-API-Key: mp_…`."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Return the caller, or None without a key. Raises AuthenticationFailed, the same for every bad key."""
        text = _key_of(request)
        if text is None:
            return None
        caller = (_remembered(text) if _asks_itself(request) else None) or _looked_up(text)
        if caller is None:
            raise AuthenticationFailed(REFUSED)
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """Return what a 401 answer asks for."""
        return 'Bearer realm="memplatform"'


def _key_of(request: Request) -> str | None:
    header = request.headers.get("Authorization", "")
    if not header:
        return request.headers.get("X-API-Key")
    scheme, _, text = header.partition(" ")
    return text.strip() if scheme.lower() in _SCHEMES else ""


def _asks_itself(request: Request) -> bool:
    """Tell whether the request's own first statement asks if the key still holds.

    A repetition under an Idempotency-Key is answered without that statement.
    """
    view = (request.parser_context or {}).get("view")
    return getattr(view, "asks_if_key_holds", False) and "Idempotency-Key" not in request.headers


# By the key's hash. Whose a key is, and what for, never changes; whether it holds may change at any time.
_callers: TTLCache[str, Caller] = TTLCache(maxsize=REMEMBERED_KEYS, ttl=REMEMBERED_SECONDS)
_lock = threading.Lock()


def _remembered(text: str) -> Caller | None:
    with _lock:
        return _callers.get(keys.hash_of(text))


def _looked_up(text: str) -> Caller | None:
    key = keys.recognise(text)
    if key is None:
        return None
    keys.note_use(key)
    caller = Caller(project_id=key.project_id, api_key_id=key.id, scopes=key.scopes)
    with _lock:
        _callers[key.hash] = caller
    return caller


class ApiKeyScheme(OpenApiAuthenticationExtension):
    """Describe the three headers in the OpenAPI document."""

    target_class = "apps.api.authentication.ApiKeyAuthentication"
    name = ["bearerKey", "headerKey"]

    def get_security_definition(self, auto_schema: object) -> list[dict[str, str]]:
        """Return the schemes in the order of their names; `Token` in place of `Bearer` is taken as well."""
        return [
            {"type": "http", "scheme": "bearer", "bearerFormat": "mp_…"},
            {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        ]
