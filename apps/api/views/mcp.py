"""The address of the MCP server, which agents reach with their API key."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.continuations import McpMessage
from apps.api.negotiation import NoNegotiation
from apps.api.views.base import ApiView
from apps.pipeline.core.enums import Scope


class McpView(ApiView):
    """Messages of the Model Context Protocol, each in a POST of its own: the server keeps no sessions."""

    scopes = {"POST": Scope.READ}
    http_method_names = ["post", "options"]
    content_negotiation_class = NoNegotiation  # clients ask for a stream of events, and expect 405 if there is none

    @extend_schema(exclude=True)
    def post(self, request: Request) -> Response:
        """Leave the answer to the MCP server beside Django (memplatform/mcp); tools need their own scopes."""
        response = Response(status=202)  # never sent by the web server
        response.continuation = McpMessage()  # type: ignore[attr-defined]  # read by memplatform/serving
        return response
