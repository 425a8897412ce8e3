"""Whose memories the tools of MCP write and read, and which tools a key is shown."""

import json
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
READERS = {"search_memories", "get_memory", "get_context"}
WRITERS = {"add_memory", "update_memory", "delete_memory"}


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
        lambda agent: agent.call_tool("add_memory", {"content": "I row.", "run_id": "r1"}), ACCEPTED, by=key("write")
    )
    assert asked_for(server) == {"agent_id": "a1", "run_id": "r1"}
    other = {"content": "Rows.", "infer": False, "agent_id": "a2"}
    _, server = used(lambda agent: agent.call_tool("add_memory", other), STORED, by=key("write"))
    assert server.bodies()[-1]["memories"][0]["agent_id"] == "a2"


READING = {
    "searched": ("search_memories", {"query": "q"}, FOUND),
    "listed": ("search_memories", {}, page([])),
    "as text": ("get_context", {}, BLOCK),
}


@pytest.mark.parametrize("way", READING)
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
    way: str, given: dict[str, str], sharing: str, meant: dict[str, str]
) -> None:
    tool, arguments, answer = READING[way]
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

    assert names(key("read")) == READERS
    assert names(key("read", "write")) == names(key("admin")) == READERS | WRITERS
    assert names({}) == READERS | WRITERS, "which tools there are can be told without the memory server"


def test_six_tools_take_less_than_5_kilobytes() -> None:
    listed, _ = used(lambda agent: agent.list_tools(), by=key("admin"))
    shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]
    assert len(shown) == 6
    assert len({tool["description"] for tool in shown}) == 6
    assert len(json.dumps({"tools": shown})) <= 5_000


MEMORY = {
    **dict.fromkeys(("content", "type", "status", "said_at", "user_id"), "x"),
    "id": "mem_1",
    "version": 1,
    "confidence": 0.9,
}
TRACE = {"id": "trc_1", "status": "done", "counts": {"stored": 1}, "outcomes": [], "error": ""}
CALLS = {
    "add_memory": ({"content": "I row."}, [ACCEPTED]),
    "search_memories": ({}, [page([])]),
    "get_context": ({}, [BLOCK]),
    "get_memory": ({"memory_id": "mem_1"}, [(200, MEMORY)]),
    "update_memory": ({"memory_id": "mem_1", "content": "Rows."}, [(200, MEMORY)]),
}


@pytest.mark.parametrize("absent", [None, ""])
@pytest.mark.parametrize("tool", CALLS)
def test_null_and_an_empty_text_are_as_left_out(tool: str, absent: str | None) -> None:
    needed, answers = CALLS[tool]
    listed, _ = used(lambda agent: agent.list_tools(), by=key("admin"))
    (schema,) = (each.input_schema for each in listed.tools if each.name == tool)
    optional = schema["properties"].keys() - needed.keys()
    assert optional

    def sent(arguments: dict[str, Any]) -> tuple[Any, list[Any]]:
        result, server = used(lambda agent: agent.call_tool(tool, arguments), *answers, by=key("admin"))
        assert not result.is_error, result.content
        bodies = [{**body, "session_id": "s"} if body and "session_id" in body else body for body in server.bodies()]
        return result.content, [*bodies, [request.url for request in server.requests]]

    left_out = sent(needed)
    for name in optional:
        assert sent({**needed, name: absent}) == left_out, name


def test_an_unknown_argument_is_refused_by_its_name() -> None:
    result, server = used(
        lambda agent: agent.call_tool("add_memory", {"content": "I row.", "timestamp": "2026-01-01"}), by=key("write")
    )
    assert result.is_error
    assert "takes no timestamp; it takes content, turns" in result.content[0].text
    assert not server.requests


def test_the_time_at_which_it_was_said_is_passed_on() -> None:
    given = {"turns": [{"content": "I row."}, {"role": "assistant", "content": "Nice."}], "occurred_at": "2026-01-02"}
    _, server = used(lambda agent: agent.call_tool("add_memory", given), ACCEPTED, by=key("write"))
    assert [each["occurred_at"] for each in server.bodies()[-1]["turns"]] == ["2026-01-02"] * 2


def test_what_became_of_it_is_told_to_who_waits() -> None:
    given = {"content": "I row.", "wait": 20}
    result, server = used(lambda agent: agent.call_tool("add_memory", given), ACCEPTED, (200, TRACE), by=key("write"))
    assert (result.structured_content["status"], result.structured_content["stored"]) == ("done", 1)
    assert dict(server.requests[-1].url.params) == {"wait": "20", "milestone": "indexed"}
