"""An agent that reaches its memory by MCP, across two runs. Needs MEMPLATFORM_URL and MEMPLATFORM_API_KEY."""

import asyncio
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

HEADERS = {
    "Authorization": f"Bearer {os.environ['MEMPLATFORM_API_KEY']}",
    "Memplatform-User-Id": "kim",
    "Memplatform-Agent-Id": "companion",
}


def model(known: str, said: str) -> str:
    """Answer as a language model would that has `known` in its prompt: this one is scripted."""
    facts = [line for line in known.splitlines() if "live" in line.lower()]
    return f"I remember: {facts[0]}" if said.endswith("?") and facts else "I will remember that."


async def run(said: str) -> None:
    """Answer with what is known, and remember what was said."""
    http = httpx2.AsyncClient(headers=HEADERS, timeout=60)
    memory = Client(streamable_http_client(f"{os.environ['MEMPLATFORM_URL']}/mcp", http_client=http))
    async with http, memory as tools:
        context = await tools.call_tool("get_context", {"query": said})
        print(model(context.content[0].text, said))  # type: ignore[union-attr]
        await tools.call_tool("add_memory", {"content": said, "wait": 30})


for text in ("I live in Porto.", "Where do I live?"):
    asyncio.run(run(text))
