"""Identify the caller by an API key in one of three headers, and check its scopes."""

import threading
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from cachetools import TTLCache
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.common.errors import ProjectArchived
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, show
from apps.tenants import keys

REFUSED = "the API key is not valid"
CALLER_CACHE_SECONDS = 60.0  # no shorter than the interval at which the use of a key is recorded
CALLER_CACHE_SIZE = 10_000
_SCHEMES = ("bearer", "token")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request: a key of one project, with its scopes, and the limits of both."""

    project_id: UUID
    api_key_id: UUID
    scopes: frozenset[Scope]
    requests_per_minute: int | None = None
    project_requests_per_minute: int | None = None
    is_of_archived_project: bool = False

    @property
    def is_authenticated(self) -> bool:
        """Return True: every caller holds a key."""
        return True

    def may(self, scope: Scope) -> bool:
        """Return True if the key has a scope; ADMIN includes the others."""
        return scope in self.scopes or Scope.ADMIN in self.scopes


# By the hash of the key. Its project and scopes never change, and its limits apply after a while; its validity may
# change at any time.
_callers: TTLCache[str, Caller] = TTLCache(maxsize=CALLER_CACHE_SIZE, ttl=CALLER_CACHE_SECONDS)
_lock = threading.Lock()


class ApiKeyAuthentication(BaseAuthentication):
    """Accept `Authorization: Bearer mp_…`, `Authorization: Token mp_…` and `X-API-Key: mp_…`."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """Return the caller, or None without a key. Raises the same AuthenticationFailed for every bad key."""
        text = request.META.get("HTTP_X_API_KEY")
        if header := request.META.get("HTTP_AUTHORIZATION", ""):
            scheme, _, given = header.partition(" ")
            text = given.strip() if scheme.lower() in _SCHEMES else ""
        if text is None:
            return None
        caller = None
        view = (request.parser_context or {}).get("view")
        # The first SQL statement of some actions checks that the key is still valid. A repeated request under an
        # Idempotency-Key never runs that statement, so its key is checked here.
        if getattr(view, "action_checks_key", False) and "HTTP_IDEMPOTENCY_KEY" not in request.META:
            with _lock:
                caller = _callers.get(keys.hash_of(text))
        if caller is None:
            key = keys.recognise(text)
            if key is None:
                raise AuthenticationFailed(REFUSED)
            caller = Caller(
                project_id=key.project_id,
                api_key_id=key.id,
                scopes=frozenset(map(Scope, key.scopes)),
                requests_per_minute=key.requests_per_minute,
                project_requests_per_minute=key.project.requests_per_minute,
                is_of_archived_project=key.project.archived_at is not None,
            )
            if not caller.is_of_archived_project:  # a project that is restored takes turns at once
                with _lock:
                    _callers[key.hash] = caller
        structlog.contextvars.bind_contextvars(key=show(Prefix.API_KEY, caller.api_key_id))
        return caller, None

    def authenticate_header(self, request: Request) -> str:
        """Return the value of WWW-Authenticate in a 401 response."""
        return 'Bearer realm="memplatform"'


class ApiKeyScheme(OpenApiAuthenticationExtension):
    """Describe the three headers in the OpenAPI document."""

    target_class = "apps.api.authentication.ApiKeyAuthentication"
    name = ["bearerKey", "headerKey"]

    def get_security_requirement(self, auto_schema: object) -> list[dict[str, list[Any]]]:
        """Require either of the schemes; one entry with both would require both headers."""
        return [{name: []} for name in self.name]

    def get_security_definition(self, auto_schema: object) -> list[dict[str, str]]:
        """Return the schemes in the order of `name`; `Token` is accepted in place of `Bearer`."""
        return [
            {"type": "http", "scheme": "bearer", "bearerFormat": "mp_…"},
            {"type": "apiKey", "in": "header", "name": "X-API-Key"},
        ]


class HasScope(BasePermission):
    """Require `read` for safe methods and `write` for others, unless the view's `scopes` say otherwise."""

    message = ""  # what the caller is told, which depends on the request

    def has_permission(self, request: Request, view: object) -> bool:
        """Return True if the caller's key has the required scope."""
        caller, scope = request.user, needed_scope(request, view)
        self.message = scope_needed(scope)
        return isinstance(caller, Caller) and caller.may(scope)


class ProjectTakesWrites(BasePermission):
    """Refuse what writes into an archived project, save what the view names in `archived_methods`."""

    def has_permission(self, request: Request, view: object) -> bool:
        """Return True, or raise ProjectArchived."""
        caller, method = request.user, request.method or "GET"
        writes = method not in SAFE_METHODS and needed_scope(request, view) is not Scope.READ
        is_archived = isinstance(caller, Caller) and caller.is_of_archived_project
        if is_archived and writes and method not in getattr(view, "archived_methods", ()):
            raise ProjectArchived
        return True


def scope_needed(scope: Scope) -> str:
    """Return what a caller is told whose key lacks a scope."""
    return f"this request needs an API key with the scope {scope}"


def needed_scope(request: Request, view: object) -> Scope:
    """Return the scope that a request needs."""
    method = request.method or "GET"
    scopes: dict[str, Scope] = getattr(view, "scopes", {})
    return scopes.get(method, Scope.READ if method in SAFE_METHODS else Scope.WRITE)
