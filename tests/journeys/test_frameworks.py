"""Agent frameworks keep their memory in the product: their own packages, over HTTP, against a running server."""

import asyncio
import runpy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from agents import Session, SessionSettings, SQLiteSession
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp
from langgraph.store.memory import InMemoryStore

from memplatform.demo.client import Client as Caller
from memplatform_client import AsyncClient, Client
from memplatform_client.anthropic import AsyncMemoryTool, MemoryTool
from memplatform_client.langgraph import MemplatformStore
from memplatform_client.openai_agents import MemplatformSession
from tests.event_loop import in_thread, run_async
from tests.instance import PROJECT
from tests.journeys.memory_commands import COMMANDS, told
from tests.journeys.stores import STEPS, AsyncMethods, Store, plain

pytestmark = pytest.mark.journey
EXAMPLES = PROJECT / "clients/python/examples"


def answers_of(store: Store) -> dict[str, object]:
    return {name: plain(step(store)) for name, step in STEPS.items()}


def test_langgraph_gets_the_answers_of_its_own_store(client: Caller) -> None:
    expected = answers_of(InMemoryStore())
    with Client(client.address, client.key) as memory:
        store = MemplatformStore(memory, user_of=lambda namespace: namespace[1])
        assert answers_of(store) == expected
        for item in store.search(("memories",)):
            store.delete(item.namespace, item.key)
    with asyncio.Runner() as runner:
        calls = AsyncClient(client.address, client.key)
        assert answers_of(AsyncMethods(MemplatformStore(async_client=calls), runner)) == expected
        runner.run(calls.close())


def test_langgraph_pages_expires_and_finds_by_words(client: Caller) -> None:
    with Client(client.address, client.key) as memory:
        store = MemplatformStore(memory, ttl={"default_ttl": 60})
        store.batch([PutOp(("many",), str(number), {"number": number}) for number in range(250)])
        assert len(store.search(("many",), limit=1_000)) == 250
        store.put(("facts",), "home", {"text": "Ana lives in Lisbon", "by": "a nurse"}, ttl=None)
        store.put(("facts",), "work", {"text": "Ana works as a nurse", "by": "Ana"}, index=["text"])
        store.put(("facts",), "hidden", {"text": "nurse"}, index=False)
        found = store.search(("facts",), query="nurses", limit=2)
        assert {item.key for item in found} == {"home", "work"}
        assert all(item.score is not None and 0 < item.score < 1 for item in found)
        places = {key: memory.read_item(namespace=["facts"], key=key)["expires_at"] for key in ("home", "work")}
        with pytest.raises(InvalidNamespaceError):
            store.batch([GetOp(("a.b",), "k")])
        assert [places["home"], places["work"] is None] == [None, False]


def test_the_memory_tool_words_its_answers_as_a_file_system(client: Caller, tmp_path: Path) -> None:
    local = BetaLocalFilesystemMemoryTool(str(tmp_path))
    expected = [(command, told(local.call, command)) for command in COMMANDS]
    with Client(client.address, client.key) as memory:
        tool = MemoryTool(memory, user_id="kim")
        assert [(command, told(tool.call, command)) for command in COMMANDS] == expected
        with pytest.raises(ToolError, match="control"):
            tool.call({"command": "create", "path": "/memories/a\nb", "file_text": ""})
        with pytest.raises(ToolError, match="leads through a file"):
            tool.call({"command": "create", "path": "/memories/.hidden/b", "file_text": ""})
        assert tool.clear_all_memory() == local.clear_all_memory()
        assert memory.search_items(namespace_prefix=["memory_tool", "kim"])["results"] == []
    with asyncio.Runner() as runner:
        calls = AsyncClient(client.address, client.key)
        other = AsyncMemoryTool(calls, user_id="lee")

        def call(command: dict[str, Any]) -> Any:
            return runner.run(other.call(command))

        assert [(command, told(call, command)) for command in COMMANDS] == expected
        runner.run(calls.close())


SAID: list[Any] = [
    {"role": "user", "content": "I live in Porto and I play the cello."},
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "look_up",
        "arguments": '{"b": 1, "a": [2.5, null]}',
        "id": "fc_1",
    },
    {"type": "function_call_output", "call_id": "c1", "output": "My father is a spy."},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Nice.", "annotations": []}]},
    {"role": "user", "content": [{"type": "input_text", "text": ""}, {"type": "input_image", "image_url": "data:"}]},
]


async def conversed(session: Any) -> list[Any]:
    """Return what a session answers over a conversation."""
    answers = [await session.get_items(), await session.pop_item()]
    await session.add_items([])
    await session.add_items(SAID)
    answers += [await session.get_items(), await session.get_items(2), await session.get_items(0)]
    answers += [await session.get_items(-1), await session.pop_item(), await session.pop_item()]
    await session.add_items(SAID[-1:] * 60)
    answers += [len(await session.get_items()), await session.get_items(61)]
    session.session_settings = SessionSettings(limit=1)
    answers += [await session.get_items(), await session.get_items(3)]
    await session.clear_session()
    return [*answers, await session.get_items(9)]


def test_a_session_of_agents_is_kept_verbatim_and_remembered(client: Caller) -> None:
    async def run() -> None:
        async with AsyncClient(client.address, client.key) as memory:
            session = MemplatformSession("monday", memory, user_id="mia")
            assert isinstance(session, Session)
            assert await conversed(session) == await conversed(SQLiteSession("monday"))
            other = MemplatformSession("tuesday", memory, user_id="mia")
            assert await other.get_items() == []
            traces = [each async for each in memory.each_trace(user_id="mia")]
            await asyncio.gather(*(memory.wait(each["id"]) for each in traces))
            known = [each["content"] async for each in memory.each_memory(user_id="mia")]
            assert sorted("Porto" in each for each in known) == [False, True]  # and the cello, nothing of the tool

    run_async(run())


@pytest.mark.parametrize("example", sorted(each.name for each in EXAMPLES.glob("*.py")))
def test_an_example_remembers_across_two_runs(
    client: Caller, example: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEMPLATFORM_URL", client.address)
    monkeypatch.setenv("MEMPLATFORM_API_KEY", client.key)
    assert len((EXAMPLES / example).read_text().splitlines()) <= 40
    in_thread(partial(runpy.run_path, str(EXAMPLES / example), run_name="__main__"))
    first, *second = capsys.readouterr().out.splitlines()
    assert "Porto" not in first, first
    assert "Porto" in "\n".join(second)
