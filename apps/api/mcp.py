"""The address of the MCP server, which agents reach with their API key."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.base import ApiView
from apps.api.parsers import NoNegotiation
from apps.pipeline.core.enums import Scope


class McpView(ApiView):
    """Messages of the Model Context Protocol, each in a POST of its own: the server keeps no sessions."""

    scopes = {"POST": Scope.READ}
    http_method_names = ["post", "options"]
    content_negotiation_class = NoNegotiation  # clients ask for a stream of events, and expect 405 if there is none

    @extend_schema(exclude=True)
    def post(self, request: Request) -> Response:
        """Accept the caller; the MCP server beside Django answers (memplatform/mcp.py), and tools need their scopes."""
        return Response(status=202)
