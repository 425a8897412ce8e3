"""Permission checks by the scopes of the API key."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.api.authentication import Caller
from apps.common.errors import ProjectArchived
from apps.pipeline.core.enums import Scope


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
