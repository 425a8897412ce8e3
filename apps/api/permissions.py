"""Let a caller in by the scopes of its key."""

from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from apps.api.authentication import Caller
from apps.pipeline.core.enums import Scope


class HasScope(BasePermission):
    """Ask for `read` on safe methods and `write` on others, unless the view's `scopes` name another by method."""

    message = "the API key lacks the scope for this request"

    def has_permission(self, request: Request, view: object) -> bool:
        """Tell whether the caller's key holds the scope."""
        caller = request.user
        return isinstance(caller, Caller) and caller.may(_needed(request, view))


def _needed(request: Request, view: object) -> Scope:
    method = request.method or "GET"
    default = Scope.READ if method in SAFE_METHODS else Scope.WRITE
    scopes: dict[str, Scope] = getattr(view, "scopes", {})
    return scopes.get(method, default)
