"""The base class of views for keys with scope admin."""

from apps.api.base import ApiView
from apps.pipeline.core.enums import Scope


class AdminView(ApiView):
    """A view whose every method needs the scope admin."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST"), Scope.ADMIN)
