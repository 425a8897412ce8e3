"""What agents already have reaches the product: the clients, and MCP, old and new, over HTTP and stdio."""

import asyncio
import os
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client as McpClient
from mcp import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from memplatform.demo.client import Client as Caller
from memplatform_client import AsyncClient, Client, InvalidRequest, NotFound, PermissionDenied
from tests.event_loop import run_async
from tests.instance import PROJECT, Instance
from tests.journeys.node import installed, run_node

pytestmark = pytest.mark.journey
OLDEST, NEWEST = "2024-11-05", "2026-07-28"
WAIT = 30
HOME = "Which city is home?"  # in no words of the memory: waiting is over when it is found by its meaning


def test_the_python_client(client: Caller) -> None:
    """What was said is found after waiting for it, and corrections need the version that was read."""
    said: Any = [{"role": "user", "content": "I live in Lyon and I work as a carpenter."}]
    with Client(client.address, client.key) as memory:
        accepted = memory.write_turns(user_id="kim", session_id="monday", turns=said)
        trace = memory.wait(accepted["trace_id"], timeout=60)
        assert (trace["status"], trace["counts"]["stored"]) == ("done", 2)
        best = memory.search("kim", HOME, limit=1)["results"][0]
        assert "Lyon" in best["content"]
        assert "Lyon" in memory.build_context("kim", "Plan a weekend")["context"]
        revised = memory.revise_memory(best["id"], {"importance": 0.9}, version=best["version"])
        assert revised["version"] == best["version"] + 1
        assert len(list(memory.each_memory(user_id="kim", limit=1))) == 2
        memory.retract_memory(best["id"], version=revised["version"])
        assert memory.read_memory(best["id"])["status"] == "retracted"
        with pytest.raises(PermissionDenied, match="insufficient_scope"):
            memory.request("GET", "/v1/keys")
        with pytest.raises(InvalidRequest) as refused:
            memory.search("kim", "where?", limit=0)
        assert refused.value.errors[0]["pointer"] == "/limit"
        with pytest.raises(NotFound):
            memory.read_trace("trc_" + "0" * 32)


TYPESCRIPT = PROJECT / "clients/typescript"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the TypeScript client and its tests, and pack it; return the package."""
    into = tmp_path_factory.mktemp("package")
    run_node(["npm", "pack", "--silent", f"--pack-destination={into}"], folder=installed(TYPESCRIPT))
    return next(into.glob("*.tgz"))


@pytest.mark.usefixtures("package")
def test_the_typescript_client(client: Caller) -> None:
    """It is compiled strictly, passes its own tests against a server, and its example remembers."""
    server = {"MEMPLATFORM_URL": client.address, "MEMPLATFORM_API_KEY": client.key}
    report = run_node(["npm", "test", "--silent"], folder=TYPESCRIPT, **server)
    counts = {name: int(number) for name, number in re.findall(r"^# (pass|skipped) (\d+)$", report, re.MULTILINE)}
    assert counts["skipped"] == 0
    assert counts["pass"] > 30
    told = run_node(["node", "dist/examples/remember.js"], folder=TYPESCRIPT, **server)
    assert "Lyon" in told.splitlines()[0]


PROGRAM = """
import { Client } from "memplatform-client";
const key = await new Client().readCurrentKey();
console.log(key.scopes.includes("write"));
"""


def test_the_package_of_the_typescript_client(client: Caller, package: Path, tmp_path: Path) -> None:
    """A program in an empty folder compiles and runs with nothing but the package."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    run_node(["npm", "install", "--offline", "--no-audit", "--no-fund", str(package)], folder=tmp_path)
    assert [each.name for each in (tmp_path / "node_modules").glob("[!.]*")] == ["memplatform-client"]
    (tmp_path / "program.ts").write_text(PROGRAM)
    compiler = [str(TYPESCRIPT / "node_modules/.bin/tsc"), "--strict", "--skipDefaultLibCheck", "--module", "nodenext"]
    types = ["--target", "es2022", "--typeRoots", str(TYPESCRIPT / "node_modules/@types")]
    run_node([*compiler, *types, "program.ts"], folder=tmp_path)
    server = {"MEMPLATFORM_URL": client.address, "MEMPLATFORM_API_KEY": client.key}
    assert run_node(["node", "program.js"], folder=tmp_path, **server) == "true\n"


def test_waiting_takes_no_threads(client: Caller) -> None:
    """More callers wait than the process has threads, and others are answered meanwhile."""

    async def run() -> list[str]:
        async with AsyncClient(client.address, client.key) as memory:
            said: Any = [{"role": "user", "content": "I have a canary."}]
            accepted = [
                await memory.write_turns(user_id=f"waiter {number}", session_id="s", turns=said) for number in range(20)
            ]
            waiting = [asyncio.create_task(memory.wait(each["trace_id"])) for each in accepted]
            assert (await memory.search("kim", "city"))["results"] is not None
            return [trace["status"] for trace in await asyncio.gather(*waiting)]

    assert set(run_async(run())) == {"done"}


def test_following_events_takes_no_threads(client: Caller, instance: Instance) -> None:
    """More callers follow than the process has threads, and others are answered meanwhile."""
    admin = instance.run_all(["createkey", "journey", "--scope=admin"]).split()[-1]
    said: Any = [{"role": "user", "content": "I have a parrot."}]

    async def first_of(owner: AsyncClient, trace: "asyncio.Future[str]", after: int) -> str:
        async for event in owner.events(after=after, types=["trace.finished"]):
            if event["data"]["trace_id"] == await trace:
                return str(event["type"])
        raise AssertionError("a stream never ends")

    async def run() -> list[str]:
        async with AsyncClient(client.address, client.key) as memory, AsyncClient(client.address, admin) as owner:
            log = await owner.request("PUT", "/v1/events/log", body={"is_on": True})
            trace: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            following = [asyncio.create_task(first_of(owner, trace, log["last_number"])) for _ in range(12)]
            await asyncio.sleep(1)  # until they are connected; were they not, they would read what they have missed
            accepted = await memory.write_turns(user_id="follower", session_id="s", turns=said)
            trace.set_result(accepted["trace_id"])
            return await asyncio.gather(*following)

    assert run_async(run()) == ["trace.finished"] * 12


async def remember_and_forget(agent: McpClient, user_id: str) -> None:
    """Add, search, update, look at the history, delete."""

    async def call(name: str, **arguments: Any) -> Any:
        result = await agent.call_tool(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content or result.content[0].text

    about = {"user_id": user_id}
    added = await call("add_memory", content="I live in Porto and I play the cello.", wait=WAIT, **about)
    assert (added["status"], added["stored"]) == ("done", 2)
    found = (await call("search_memories", query=HOME, limit=1, **about))["results"][0]
    assert "Porto" in found["content"]
    newest = await call("search_memories", limit=1, **about)
    older = await call("search_memories", limit=1, cursor=newest["next_cursor"], **about)
    assert found["id"] in {each["results"][0]["id"] for each in (newest, older)}
    assert "Porto" in await call("get_context", query="Plan a concert", **about)
    assert "nothing of it fits" in await call("get_context", token_budget=1, **about)
    content = found["content"].replace("Porto", "Braga")
    refused = await agent.call_tool("update_memory", {"memory_id": found["id"], "content": content})
    assert refused.is_error
    assert "insufficient_scope" in refused.content[0].text
    updated = await call("update_memory", memory_id=found["id"], metadata={"from": "mcp"}, version=found["version"])
    assert updated["metadata"] == {"from": "mcp"}
    stale = await agent.call_tool("update_memory", {"memory_id": found["id"], "tags": ["a"], "version": 1})
    assert stale.is_error
    assert "version" in stale.content[0].text
    read = await call("get_memory", memory_id=found["id"], history=True)
    assert ("Porto" in read["content"], [each["version"] for each in read["history"]["versions"]]) == (True, [1])
    await call("delete_memory", memory_id=found["id"])
    rest = await call("search_memories", **about)
    assert [("cello" in each["content"]) for each in rest["results"]] == [True]
    retracted = await call("search_memories", statuses=["retracted"], **about)
    assert [each["id"] for each in retracted["results"]] == [found["id"]]
    stored = await call("add_memory", content="Likes plain words.", infer=False, **about)
    assert stored["results"][0]["content"] == "Likes plain words."
    for name, changes in {"get_memory": {}, "delete_memory": {}, "update_memory": {"tags": []}}.items():
        for unknown in ("mem_" + "0" * 32, 5):
            missing = await agent.call_tool(name, {"memory_id": unknown, **changes})
            assert missing.is_error
            assert missing.content[0].text.startswith("not_found: ")
    wrong = await agent.call_tool("search_memories", {"query": HOME, "limit": 0, **about})
    assert wrong.content[0].text.startswith("invalid_request: /limit")


async def over_http(client: Caller, mode: str, user_id: str) -> None:
    headers = {"Authorization": f"Bearer {client.key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{client.address}/mcp", http_client=http)
        async with McpClient(transport, mode=mode) as agent:
            tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
            assert mode != "legacy" or agent.server_info.version  # the newest protocol asks no server who it is
            assert tools["search_memories"].annotations.read_only_hint
            assert tools["delete_memory"].annotations.destructive_hint
            await remember_and_forget(agent, user_id)


@pytest.mark.parametrize("mode", ["legacy", NEWEST])
def test_mcp_over_http(client: Caller, mode: str) -> None:
    run_async(over_http(client, mode, f"http {mode}"))


@pytest.fixture(scope="module")
def reading_key(client: Caller, instance: Instance) -> str:
    return instance.run_all(["createkey", "journey", "--scope=read"]).split()[-1]


@pytest.mark.parametrize("mode", ["legacy", NEWEST])
def test_an_agent_is_told_what_it_may_use_and_tells_in_its_name(client: Caller, reading_key: str, mode: str) -> None:
    user = {"Memplatform-User-Id": f"agents {mode}"}

    async def connected(key: str, agent_id: str, ask: Callable[[McpClient], Awaitable[Any]]) -> Any:
        headers = {"Authorization": f"Bearer {key}", "Memplatform-Agent-Id": agent_id, **user}
        http = httpx2.AsyncClient(headers=headers, timeout=60)
        transport = streamable_http_client(f"{client.address}/mcp", http_client=http)
        async with http, McpClient(transport, mode=mode) as agent:
            return await ask(agent)

    async def found_by(agent: McpClient) -> list[Any]:
        everybodys = await agent.call_tool("search_memories", {"query": "Who rows?"})
        others = await agent.call_tool("search_memories", {"query": "Who rows?", "agent_id": "another"})
        tools = {tool.name for tool in (await agent.list_tools()).tools}
        return [*(len(each.structured_content["results"]) for each in (everybodys, others)), "add_memory" in tools]

    told = {"content": "Rows on Sundays.", "infer": False}
    run_async(connected(client.key, "rower", lambda agent: agent.call_tool("add_memory", told)))
    with Client(client.address, client.key) as memory:
        assert [each["agent_id"] for each in memory.each_memory(user_id=f"agents {mode}")] == ["rower"]
    assert run_async(connected(client.key, "reader", found_by)) == [1, 0, True]
    assert run_async(connected(reading_key, "reader", found_by)) == [1, 0, False]


COMMANDS = {"client": ["-m", "memplatform_client.mcp.stdio"], "manage.py": ["manage.py", "mcp"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_mcp_over_stdio(client: Caller, instance: Instance, command: str) -> None:
    own = {"MEMPLATFORM_URL": client.address, "MEMPLATFORM_API_KEY": client.key}
    started = StdioServerParameters(
        command=sys.executable, args=COMMANDS[command], env={**os.environ, **instance.environment, **own}, cwd=PROJECT
    )

    async def run() -> None:
        async with McpClient(started) as agent:
            await remember_and_forget(agent, f"stdio {command}")

    run_async(run())


def post(client: Caller, message: dict[str, Any], *, key: str, **headers: Any) -> httpx2.Response:
    accept = {"Accept": "application/json, text/event-stream", **headers}
    return httpx2.post(
        f"{client.address}/mcp", json=message, headers={"Authorization": f"Bearer {key}", **accept}, timeout=60
    )


def called(client: Caller, name: str, arguments: dict[str, Any], **headers: Any) -> Any:
    """Return the result of a tool that is called in a message of its own."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return post(client, message, key=client.key, **headers).json()["result"]


def test_a_message_that_is_sent_again_adds_once(client: Caller) -> None:
    """A message takes the key, the end user, the agent and the Idempotency-Key of its headers over."""
    headers = {"Memplatform-User-Id": "jos\u00e9".encode(), "Memplatform-Agent-Id": "once", "Idempotency-Key": "again"}
    first, second = (called(client, "add_memory", {"content": "I live in Porto."}, **headers) for _ in range(2))
    assert first["structuredContent"] == second["structuredContent"]
    reused = called(client, "add_memory", {"content": "I row."}, **headers)
    assert reused["content"][0]["text"].startswith("idempotency_mismatch: ")
    with Client(client.address, client.key) as memory:
        memory.wait(first["structuredContent"]["trace_id"])
        (trace,) = memory.each_trace(user_id="jos\u00e9")
        assert trace["id"] == first["structuredContent"]["trace_id"]
        assert {each["agent_id"] for each in memory.each_memory(user_id="jos\u00e9")} == {"once"}
    odd = called(client, "add_memory", {"content": "I row.", "user_id": "odd"}, **{"Idempotency-Key": b"\xff"})
    assert odd["isError"]


MESSAGES = [
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function"}]},
    {"role": "assistant", "tool_calls": []},
    {"role": "user", "content": ""},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]},
    {"role": "user", "content": {"text": "an object"}},
    {"role": "developer", "content": "Answer briefly."},
    {"role": "user", "name": "Petra", "content": "I live in Delft."},
    {"role": "user", "name": "Olaf", "content": [{"type": "text", "text": "I live in Aarhus."}]},
]


def test_messages_as_chat_apis_write_them(client: Caller) -> None:
    """One without text costs itself alone, and what others say is theirs."""
    at = "2026-01-02T10:00:00+01:00"
    arguments = {"turns": MESSAGES, "occurred_at": at, "user_id": "chat", "wait": WAIT}
    added = called(client, "add_memory", arguments)["structuredContent"]
    assert [each["pointer"] for each in added["skipped"]] == [f"/turns/{number}/content" for number in range(5)]
    with Client(client.address, client.key) as memory:
        known = {each["content"]: each["said_at"] for each in memory.each_memory(user_id="chat")}
    assert sorted(known) == ["Olaf lives in Aarhus.", "Petra lives in Delft."]
    assert set(known.values()) == {"2026-01-02T09:00:00Z"}


def test_the_oldest_protocol_and_refusals(client: Caller) -> None:
    """A client of 2024 begins with initialize; a key that is not valid gets a problem document."""
    asked = {"protocolVersion": OLDEST, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": asked}
    begun = post(client, message, key=client.key)
    assert begun.json()["result"]["protocolVersion"] == OLDEST
    listed = post(client, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}, key=client.key)
    assert "add_memory" in {tool["name"] for tool in listed.json()["result"]["tools"]}
    call = {"name": "search_memories", "arguments": {"query": "city"}}
    search = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
    assert "user_id is required" in post(client, search, key=client.key).json()["result"]["content"][0]["text"]
    of_kim = post(client, search, key=client.key, **{"Memplatform-User-Id": "kim"}).json()["result"]
    assert all("Lyon" in hit["content"] for hit in of_kim["structuredContent"]["results"])
    messages = [{"role": "assistant", "content": None, "tool_calls": []}, {"role": "user", "content": "I row."}]
    call = {"name": "add_memory", "arguments": {"turns": messages, "user_id": "mcp"}}
    add = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": call}
    (skipped,) = post(client, add, key=client.key).json()["result"]["structuredContent"]["skipped"]
    assert skipped["pointer"] == "/turns/0/content"
    refused = post(client, message, key="mp_wrong")
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_key")
    assert "Bearer" in refused.headers["WWW-Authenticate"]
    streaming = {"Authorization": f"Bearer {client.key}", "Accept": "text/event-stream"}
    stream = httpx2.get(f"{client.address}/mcp", headers=streaming)
    assert (stream.status_code, stream.json()["code"]) == (405, "method_not_allowed")
    broken = httpx2.post(
        f"{client.address}/mcp", content=b"{", headers={"Authorization": f"Bearer {client.key}", **JSON}
    )
    assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)


JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
