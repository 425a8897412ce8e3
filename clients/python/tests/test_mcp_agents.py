"""What the tools of MCP ask of the memory server, for whom, and which of them a key is shown."""

import json
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient

from memplatform_client import AsyncClient, models
from memplatform_client.mcp import stdio
from memplatform_client.mcp.access import Access
from memplatform_client.mcp.server import memory_server
from memplatform_client.mcp.tools import NOTHING, TOOLS
from scripted import AT_ONCE, ScriptedServer, complete, page
from tests.event_loop import run_async

ACCEPTED: Any = (202, {"trace_id": "trc_1", "status": "queued", "skipped": []})
STORED: Any = (201, {"results": [], "adjusted": []})
FOUND: Any = (200, {"results": []})
BLOCK: Any = (200, {"context": "", "tokens": 0, "memory_ids": [], "omitted": 0})
MEMORY: Any = (200, {"id": "mem_1", "content": "Rows."})
HISTORY: Any = (200, {"memory": {}, "versions": [{"version": 1}]})
TRACE: Any = (200, {"status": "done", "counts": {"stored": 1}, "outcomes": [], "error": ""})
READERS = {"search_memories", "get_context", "get_memory"}
WRITERS = {"add_memory", "update_memory", "delete_memory"}
# A call of each tool with as little as possible, and what the memory server answers.
CALLS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "add_memory": ({"content": "I row."}, [ACCEPTED]),
    "search_memories": ({"query": "q"}, [FOUND]),
    "get_context": ({}, [BLOCK]),
    "get_memory": ({"memory_id": "mem_1"}, [MEMORY]),
    "update_memory": ({"memory_id": "mem_1"}, [MEMORY]),
    "delete_memory": ({"memory_id": "mem_1"}, [(204, None)]),
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
        async with memory, McpClient(memory_server(Access(memory, "kim", "a1", "call-1"))) as agent:
            return await ask(agent)

    return run_async(run()), server


def called(tool: str, arguments: dict[str, Any], *answers: Any, sharing: str = "shared") -> tuple[Any, ScriptedServer]:
    """Return the result of a tool, and what the server was asked."""
    by = key("read", "write", sharing=sharing)
    return used(lambda agent: agent.call_tool(tool, arguments), *answers, by=by)


def sent(server: ScriptedServer) -> list[Any]:
    """Return what was asked, in a form that can be compared."""
    requests = [
        (request.method, str(request.url), request.headers.get("idempotency-key")) for request in server.requests
    ]
    return list(zip(requests, server.bodies(), strict=True))


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--help"], 0, ["--user-id", "--agent-id", "MEMPLATFORM_URL", "MEMPLATFORM_API_KEY"]),
        (["--user-id", "kim", "--colour", "red"], 2, ["--colour"]),
    ],
)
def test_the_command_tells_its_options_and_refuses_others(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    told: list[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["memplatform-mcp", *options])
    with pytest.raises(SystemExit) as ended:
        stdio.main()
    printed = capsys.readouterr()
    assert ended.value.code == code
    assert all(each in (printed.err if code else printed.out) for each in told)


def test_a_server_that_does_not_answer_is_named() -> None:
    def silent(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("All connection attempts failed")

    async def run() -> Any:
        transport = httpx2.MockTransport(silent)
        memory = AsyncClient("http://memory.local:8000", "mp_key", retries=AT_ONCE, http_transport=transport)
        async with memory, McpClient(memory_server(Access(memory, "kim"))) as agent:
            return await agent.call_tool("get_context", {})

    result = run_async(run())
    assert result.is_error
    assert "http://memory.local:8000" in result.content[0].text


def test_six_small_tools_with_names_and_descriptions_of_their_own() -> None:
    listed, _ = used(lambda agent: agent.list_tools(), by={})
    assert {tool.name for tool in listed.tools} == READERS | WRITERS == CALLS.keys()
    assert len({tool.description for tool in listed.tools}) == 6
    answer = listed.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 5_000


def test_arguments_have_the_names_of_the_fields_of_the_rest_api() -> None:
    bodies: dict[str, Any] = {
        "add_memory": models.TurnsBody,
        "search_memories": models.SearchBody,
        "get_context": models.ContextBody,
        "update_memory": models.RevisionBody,
    }
    own = {
        "add_memory": {"content", "occurred_at", "infer", "wait"},  # of the turn, of mem0's API, of the trace
        "search_memories": {"cursor"},  # of the list
        "get_memory": {"memory_id", "history"},
    }
    for tool in TOOLS:
        fields = bodies[tool.name].__annotations__.keys() if tool.name in bodies else set()
        assert tool.arguments.keys() - fields <= own.get(tool.name, {"memory_id"}), tool.name


OPTIONAL = [
    (tool.name, name)
    for tool in TOOLS
    for name in tool.arguments
    if name not in tool.required and name not in CALLS[tool.name][0]
]


@pytest.mark.parametrize("empty", [None, ""])
@pytest.mark.parametrize(("tool", "name"), OPTIONAL)
def test_an_argument_without_a_value_is_left_out(tool: str, name: str, empty: str | None) -> None:
    arguments, answers = CALLS[tool]
    plain, expected = called(tool, arguments, *answers)
    result, asked = called(tool, {**arguments, name: empty}, *answers)
    assert not result.is_error, result.content
    assert (result.content, sent(asked)) == (plain.content, sent(expected))


def test_a_query_without_a_value_is_left_out_too() -> None:
    _, expected = called("search_memories", {}, page([]))
    for empty in (None, ""):
        _, asked = called("search_memories", {"query": empty}, page([]))
        assert sent(asked) == sent(expected)


def test_content_without_a_value_is_left_out_too() -> None:
    turns = [{"role": "user", "content": "I row."}]
    _, expected = called("add_memory", {"turns": turns}, ACCEPTED)
    for empty in (None, ""):
        _, asked = called("add_memory", {"turns": turns, "content": empty}, ACCEPTED)
        assert sent(asked) == sent(expected)


@pytest.mark.parametrize("tool", CALLS)
def test_an_unknown_argument_is_refused_by_name(tool: str) -> None:
    result, server = called(tool, {**CALLS[tool][0], "timestamp": None})
    assert result.is_error
    assert result.content[0].text.startswith(f"{tool} has no argument timestamp; it takes ")
    assert server.requests == []


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("add_memory", {}, "give either content or turns"),
        ("add_memory", {"content": "a", "turns": [{"content": "b"}]}, "give either content or turns"),
        ("add_memory", {"turns": [{"content": "b"}], "infer": False}, "infer: false stores content as it is"),
        ("get_memory", {"memory_id": ""}, "get_memory needs memory_id"),
        ("store_memory", {}, "there is no tool store_memory; there are add_memory, search_memories,"),
    ],
)
def test_what_an_agent_does_wrong_is_told_in_a_sentence(tool: str, arguments: dict[str, Any], told: str) -> None:
    result, _ = called(tool, arguments)
    assert result.is_error
    assert result.content[0].text.startswith(told)


def test_what_the_server_refuses_is_told_with_its_code() -> None:
    problem = {"code": "rate_limited", "detail": "too many requests"}
    result, _ = called("get_context", {}, (429, problem, {"Retry-After": "60"}))
    assert result.is_error
    assert result.content[0].text == "rate_limited: too many requests (try again after 60 seconds)"


def test_what_was_said_is_sent_with_its_time() -> None:
    at = "2026-01-02T10:00:00+01:00"
    _, server = called("add_memory", {"content": "I row.", "occurred_at": at}, ACCEPTED)
    (body,) = server.bodies()
    assert body["turns"] == [{"role": "user", "content": "I row.", "occurred_at": at}]
    turns = [{"content": "I row."}, {"role": "assistant", "content": None, "occurred_at": "2026-01-02T11:00:00Z"}]
    _, server = called("add_memory", {"turns": turns, "occurred_at": at}, ACCEPTED)
    (body,) = server.bodies()
    assert [turn["occurred_at"] for turn in body["turns"]] == [at, "2026-01-02T11:00:00Z"]
    assert [turn["role"] for turn in body["turns"]] == ["user", "assistant"]
    _, server = called("add_memory", {"content": "Rows.", "occurred_at": at, "infer": False}, STORED)
    assert server.bodies()[0]["memories"][0]["said_at"] == at


def test_values_that_come_as_json_in_a_text_are_read() -> None:
    given = {"query": "12", "limit": "3", "tags": '["water"]', "filter": '{"topic": "rowing"}', "min_score": "high"}
    _, server = called("search_memories", given, FOUND)
    read = {"query": "12", "limit": 3, "tags": ["water"], "filter": {"topic": "rowing"}, "min_score": "high"}
    assert server.bodies() == [{**read, "user_id": "kim"}]


def test_a_call_that_adds_is_sent_under_its_idempotency_key() -> None:
    for arguments, answer in (({"content": "I row."}, ACCEPTED), ({"content": "Rows.", "infer": False}, STORED)):
        _, server = called("add_memory", arguments, answer)
        assert [request.headers["idempotency-key"] for request in server.requests] == ["call-1"]


def test_a_memory_is_read_with_its_history() -> None:
    result, _ = called("get_memory", {"memory_id": "mem_1", "history": "true"}, MEMORY, HISTORY)
    assert result.structured_content == {"id": "mem_1", "content": "Rows.", "history": HISTORY[1]}


def test_what_became_of_it_is_told_to_who_waits() -> None:
    result, server = called("add_memory", {"content": "I row.", "wait": 20}, ACCEPTED, TRACE)
    told = result.structured_content
    assert (told["trace_id"], told["status"], told["stored"]) == ("trc_1", "done", 1)
    assert dict(server.requests[-1].url.params) == {"wait": "20", "milestone": "indexed"}


def test_without_a_query_all_is_listed_briefly_in_pages() -> None:
    names = ("id", "content", "type", "status", "confidence", "said_at", "tags", "metadata", "version")
    listed = {**dict.fromkeys((*names, "evidence"), "x")}
    given = {"types": ["fact"], "filter": {"topic": "rowing"}, "limit": 1, "cursor": "c1"}
    result, server = called("search_memories", given, page([listed], cursor="c2"))
    assert result.structured_content == {"results": [dict.fromkeys(names, "x")], "next_cursor": "c2"}
    asked = {"types": "fact", "filter": '{"topic": "rowing"}', "limit": "1", "cursor": "c1", "user_id": "kim"}
    assert dict(server.requests[-1].url.params) == asked


def test_an_empty_block_says_so() -> None:
    result, _ = called("get_context", {}, BLOCK)
    assert result.content[0].text == NOTHING


def asked_for(server: ScriptedServer) -> dict[str, Any]:
    """Return the agent scope of the last request."""
    last = server.requests[-1]
    given = server.bodies()[-1] or dict(last.url.params)
    return {name: given[name] for name in ("agent_id", "app_id", "run_id") if name in given}


def test_what_is_told_names_the_agent_of_the_connection() -> None:
    _, server = called("add_memory", {"content": "I row.", "run_id": "r1"}, ACCEPTED)
    assert asked_for(server) == {"agent_id": "a1", "run_id": "r1"}
    _, server = called("add_memory", {"content": "Rows.", "infer": False, "agent_id": "a2"}, STORED)
    assert server.bodies()[-1]["memories"][0]["agent_id"] == "a2"


READING = {"searched": ("search_memories", {"query": "q"}, FOUND), "listed": ("search_memories", {}, page([]))}
READING["as text"] = ("get_context", {}, BLOCK)


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
    result, server = called(tool, {**arguments, **given}, answer, sharing=sharing)
    assert not result.is_error, result.content
    assert asked_for(server) == meant


def test_a_key_is_shown_the_tools_that_it_may_use() -> None:
    def names(by: dict[str, Any]) -> set[str]:
        listed, _ = used(lambda agent: agent.list_tools(), by=by)
        return {tool.name for tool in listed.tools}

    assert names(key("read")) == READERS
    assert names(key("read", "write")) == names(key("admin")) == READERS | WRITERS
    assert names({}) == READERS | WRITERS, "which tools there are can be told without the memory server"
