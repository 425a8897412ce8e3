"""Permission checks by the scopes of the API key."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.api.authentication import Caller
from apps.pipeline.core.enums import Scope


class HasScope(BasePermission):
    """Require `read` for safe methods and `write` for others, unless the view's `scopes` say otherwise."""

    message = "the API key does not have the scope that this request needs"

    def has_permission(self, request: Request, view: object) -> bool:
        """Return True if the caller's key has the required scope."""
        method = request.method or "GET"
        default = Scope.READ if method in SAFE_METHODS else Scope.WRITE
        scopes: dict[str, Scope] = getattr(view, "scopes", {})
        caller = request.user
        return isinstance(caller, Caller) and caller.may(scopes.get(method, default))
