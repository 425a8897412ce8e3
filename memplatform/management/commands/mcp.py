"""Serve MCP over standard input and output, on the data of this installation."""

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memplatform_client import AsyncClient


class Command(BaseCommand):
    help = "Serve MCP over standard input and output, without a web server. Extraction needs the workers (cluster)."
    requires_system_checks: list[str] = []  # their output would not be part of the protocol

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user-id", default=None, help="the end user if a tool names none")
        parser.add_argument("--agent-id", default=None, help="the agent that tells something if a tool names none")

    def handle(self, *, user_id: str | None, agent_id: str | None, **options: Any) -> None:
        # With the SDK, which takes time to read.
        from memplatform_client.mcp.access import Access
        from memplatform_client.mcp.stdio import serve

        key = os.environ.get("MEMPLATFORM_API_KEY", "")
        if not key:
            raise CommandError("set MEMPLATFORM_API_KEY to a key of the project (manage.py createkey PROJECT)")
        # The REST API answers within this process.
        from memplatform.asgi import rest
        from memplatform.mcp import in_process

        # An ASGI scope that says how a request has come: from this machine, to an allowed host.
        host = next((host for host in settings.ALLOWED_HOSTS if not host.startswith(("*", "."))), "localhost")
        scheme = "https" if settings.HTTPS else "http"
        headers = [(b"host", host.encode()), (b"x-forwarded-proto", scheme.encode())]
        outer = {"scheme": "http", "client": ("127.0.0.1", 0), "headers": headers}
        client = AsyncClient("http://in-process", key, http_transport=in_process(rest, outer))
        user_id = user_id or os.environ.get("MEMPLATFORM_USER_ID")
        serve(Access(client, user_id, agent_id or os.environ.get("MEMPLATFORM_AGENT_ID")))
