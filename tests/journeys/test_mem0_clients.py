"""All methods of mem0's clients, in Python (both) and for Node, against a running server: each is served or refused."""

import asyncio
import inspect
import json
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from memplatform.demo.client import Client as Caller
from memplatform_client import Client
from tests.event_loop import in_thread
from tests.instance import PROJECT, Instance
from tests.journeys.mem0_methods import NOTHING, PROJECT_METHODS, ROWS, UNSUPPORTED, Journey, Row
from tests.journeys.node import installed, run_node

pytestmark = pytest.mark.journey
NPM = PROJECT / "tests/journeys/mem0_npm"
ONLY_NPM = {"ping": "", "deleteUser": UNSUPPORTED}
ONLY_PYTHON = {"chat", "reset", "get_summary"}


@pytest.fixture(scope="module")
def key(client: Caller, instance: Instance) -> str:
    """Return a key of a project of its own, which may list and erase end users."""
    made = ["createkey", "mem0", "--scope=read", "--scope=write", "--scope=admin"]
    return instance.run_all(["createproject", "mem0", "--slug=mem0"], made).split()[-1]


@pytest.fixture
def mem0(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    return import_module("mem0")  # now, since it reads its environment when it is imported


def methods_of(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if not name.startswith("_")}


def test_every_method_has_a_row_and_is_documented(mem0: Any) -> None:
    named = {row.method for row in ROWS}
    assert methods_of(mem0.MemoryClient) == named
    assert methods_of(mem0.AsyncMemoryClient) == named
    assert methods_of(import_module("mem0.client.project").Project) == PROJECT_METHODS.keys()
    page = (PROJECT / "docs/recipes/mem0.md").read_text()
    assert [name for name in sorted(named) if f"`{name}`" not in page] == []


def come_to(row: Row, memory: Any, at: Journey, finished: Callable[[Any], Any]) -> tuple[Any, str]:
    """Return the answer of a call; or its exception, and the name of that."""
    try:
        return finished(row.call_on(memory, at)), ""
    except Exception as error:  # noqa: BLE001  (its kind is compared)
        return error, type(error).__name__


def go_through(memory: Any, at: Journey, finished: Callable[[Any], Any]) -> None:
    """Call all methods; `finished` returns the answer of a call."""
    for row in ROWS:
        if row.method == "reset":
            finished(memory.add("Lee rows.", user_id="lee", infer=False))
        answer, error = come_to(row, memory, at, finished)
        assert error == row.refused, (row.method, answer)
        assert error or row.shows(at, answer), (row.method, answer)
    for name, options in PROJECT_METHODS.items():
        with pytest.raises(Exception, match="console") as refused:
            finished(getattr(memory.project, name)(**options))
        assert type(refused.value).__name__ == UNSUPPORTED, name
    assert finished(memory.users())["results"] == []


def test_the_python_client(client: Caller, key: str, mem0: Any) -> None:
    with pytest.raises(ValueError, match="not valid"):
        mem0.MemoryClient(api_key="mp_wrong", host=client.address)
    memory = mem0.MemoryClient(api_key=key, host=client.address)
    with Client(client.address, key) as own:
        go_through(memory, Journey("ned", own.wait, memory.project_id), lambda answer: answer)
    with pytest.raises(mem0.exceptions.MemoryNotFoundError):
        memory.get(NOTHING)
    with pytest.raises(mem0.exceptions.ValidationError, match="end user"):
        memory.add("Nobody said this.", agent_id="a1")
    reading = mem0.MemoryClient(api_key=client.key, host=client.address)
    with pytest.raises(mem0.exceptions.AuthenticationError):
        reading.users()


def test_the_asynchronous_python_client(client: Caller, key: str, mem0: Any) -> None:
    def run() -> None:
        with asyncio.Runner() as runner, Client(client.address, key) as own:

            def finished(answer: Any) -> Any:
                return runner.run(answer) if inspect.isawaitable(answer) else answer

            memory = mem0.AsyncMemoryClient(api_key=key, host=client.address)
            go_through(memory, Journey("amy", own.wait, memory.project_id), finished)

    in_thread(run)


def test_the_npm_client(client: Caller, key: str, tmp_path: Path) -> None:
    command = ["node", "methods.mjs", client.address, key, "nell"]
    quiet = {"MEM0_TELEMETRY": "false", "HOME": str(tmp_path)}
    told = json.loads(run_node(command, folder=installed(NPM), **quiet).splitlines()[-1])
    served = {camel(row.method): row.refused for row in ROWS if row.method not in ONLY_PYTHON}
    assert told["outcomes"] == served | ONLY_NPM
    assert set(told["methods"]) == told["outcomes"].keys()


def camel(name: str) -> str:
    return re.sub(r"_(\w)", lambda found: found[1].upper(), name)
