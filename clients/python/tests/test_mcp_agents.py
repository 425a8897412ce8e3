"""Whose memories the tools of MCP write and read, and which tools a key is shown."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient

from memplatform_client import AsyncClient
from memplatform_client.mcp.access import Access, connect_always
from memplatform_client.mcp.server import memory_server
from scripted import AT_ONCE, ScriptedServer, complete, page
from tests.event_loop import run_async

ACCEPTED = (202, {"trace_id": "trc_1", "status": "queued"})
STORED = (201, {"results": [], "adjusted": []})
FOUND = (200, {"results": []})
BLOCK = (200, {"context": "", "tokens": 0, "memory_ids": [], "omitted": 0})
READERS = {
    "search_memories",
    "get_memories",
    "get_memory",
    "get_memory_history",
    "get_context",
    "get_event_status",
    "get_trace",
    "list_entities",
}


@dataclass
class KeyedServer(ScriptedServer):
    """A scripted server that tells at any time what a key may do; the SDK lists tools by itself too."""

    key: dict[str, Any] = field(default_factory=dict)

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/v1/keys/current":
            return httpx2.Response(200 if self.key else 503, json=self.key)
        return self(request)


def key(*scopes: str, sharing: str = "shared") -> dict[str, Any]:
    return {"scopes": list(scopes), "memory_sharing": sharing}


def used(
    ask: Callable[[McpClient], Coroutine[Any, Any, Any]], *answers: Any, by: dict[str, Any]
) -> tuple[Any, ScriptedServer]:
    """Return what an agent gets that is connected as agent a1 and is about kim, and what the server was asked."""
    server = KeyedServer([complete(answer) for answer in answers], key=by)

    async def run() -> Any:
        transport = httpx2.MockTransport(server.answer)
        memory = AsyncClient("http://server", "mp_key", retries=AT_ONCE, http_transport=transport)
        async with memory, McpClient(memory_server(connect_always(Access(memory, "kim", "a1")))) as agent:
            return await ask(agent)

    return run_async(run()), server


def asked_for(server: ScriptedServer) -> dict[str, Any]:
    """Return the agent scope of the last request."""
    last = server.requests[-1]
    given = server.bodies()[-1] or dict(last.url.params)
    return {name: given[name] for name in ("agent_id", "app_id", "run_id") if name in given}


def test_what_is_told_names_the_agent_of_the_connection() -> None:
    _, server = used(
        lambda agent: agent.call_tool("add_memory", {"text": "I row.", "run_id": "r1"}), ACCEPTED, by=key("write")
    )
    assert asked_for(server) == {"agent_id": "a1", "run_id": "r1"}
    other = {"text": "Rows.", "infer": False, "agent_id": "a2"}
    _, server = used(lambda agent: agent.call_tool("add_memory", other), STORED, by=key("write"))
    assert server.bodies()[-1]["memories"][0]["agent_id"] == "a2"


READING = {"search_memories": ({"query": "q"}, FOUND), "get_memories": ({}, page([])), "get_context": ({}, BLOCK)}


@pytest.mark.parametrize("tool", READING)
@pytest.mark.parametrize(
    ("given", "sharing", "meant"),
    [
        ({}, "shared", {}),
        ({}, "by_agent", {"agent_id": "a1"}),
        ({"run_id": "r1"}, "by_agent", {"agent_id": "a1", "run_id": "r1"}),
        ({"agent_id": "a2", "app_id": "p"}, "by_agent", {"agent_id": "a2", "app_id": "p"}),
    ],
)
def test_what_is_read_follows_the_sharing_of_the_project(
    tool: str, given: dict[str, str], sharing: str, meant: dict[str, str]
) -> None:
    arguments, answer = READING[tool]
    by = key("read", sharing=sharing)
    result, server = used(lambda agent: agent.call_tool(tool, {**arguments, **given}), answer, by=by)
    assert not result.is_error, result.content
    assert asked_for(server) == meant


def test_the_score_of_a_found_memory_is_told_even_if_it_is_0() -> None:
    told = ("id", "content", "type", "status", "confidence", "said_at", "user_id", "version")
    found = {**dict.fromkeys(told, "x"), "score": 0.0, "disputed": False, "unverified": True, "tags": []}
    result, _ = used(
        lambda agent: agent.call_tool("search_memories", {"query": "q"}), (200, {"results": [found]}), by=key("read")
    )
    (shown,) = result.structured_content["results"]
    assert (shown["score"], shown["unverified"], shown.keys() & {"disputed", "tags"}) == (0.0, True, set())


def test_a_key_is_shown_the_tools_that_it_may_use() -> None:
    def names(by: dict[str, Any]) -> set[str]:
        listed, _ = used(lambda agent: agent.list_tools(), by=by)
        return {tool.name for tool in listed.tools}

    writers = {"add_memory", "store_memory", "update_memory", "delete_memory"}
    assert names(key("read")) == READERS
    assert names(key("read", "write")) == names(key("admin")) == READERS | writers
    assert names({}) == READERS | writers, "which tools there are can be told without the memory server"
