"""A visitor of the demo types sentences and sees what becomes of each; a server of models nearby is named."""

import json
import os
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import httpx2
import pytest

from memplatform.demo import visitor as demo_visitor
from memplatform.demo.client import Client, DemoFailed
from memplatform.demo.visitor import Visitor, lines_of, local_model

STORED = {"outcome": "stored", "content": "User lives in Lyon.", "reason": ""}
REJECTED = {"outcome": "discarded", "content": None, "reason": "greeting"}


class Server(Client):
    """A client whose server answers greetings and statements, and refuses the rest."""

    def post(self, path: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
        (turn,) = body["turns"]
        if turn["content"] == "refused":
            raise DemoFailed("413 too large")
        outcome = REJECTED if turn["content"] == "Hello" else STORED
        return httpx2.Response(200, json={"outcomes": [outcome]})


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reads, writes = os.pipe()
    yield reads, writes
    os.close(reads)


def test_each_line_is_told_and_its_outcome_shown(pipe: tuple[int, int]) -> None:
    visitor = Visitor(Server(address=""), pipe[0])
    shown: list[list[str]] = []
    for line in (b"I live in Lyon.\n", b"\n", b"Hello\n", b"refused\n", b"\xff\n"):
        os.write(pipe[1], line)
        shown.append(list(visitor.listen(seconds=5)))
    lives = ["stored: User lives in Lyon."]
    assert shown == [lives, [], ["discarded: greeting"], ["413 too large"], lives]
    os.close(pipe[1])
    assert list(visitor.listen(seconds=0)) == []
    assert visitor.input is None


def test_an_answer_without_outcomes_is_told_too() -> None:
    assert lines_of({"trace_id": "trc_1", "status": "queued"}) == ["accepted; the console shows what becomes of it"]
    assert lines_of({"outcomes": [], "error": "", "status": "done"}) == ["done"]


class Models(BaseHTTPRequestHandler):
    """Lists models as Ollama does."""

    answer = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Models) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setattr(demo_visitor, "SERVERS", (("Ollama", address, "/api/tags", "models", "name"),))
        yield address
        server.shutdown()


def test_a_server_of_models_on_this_machine_is_named(ollama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("nomic-embed-text", "bad name; rm", "llama3.1:8b")
    monkeypatch.setattr(Models, "answer", json.dumps({"models": [{"name": name} for name in names]}).encode())
    assert local_model() == f"Ollama runs here: MODEL=openai:llama3.1:8b OPENAI_BASE_URL={ollama}/v1 make demo"


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b'{"models": []}', b'{"models": [1]}', b'{"models": null}'])
def test_another_server_is_passed_over(ollama: str, monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    monkeypatch.setattr(Models, "answer", answer)
    assert local_model() is None


def test_no_server_is_no_error(ollama: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_visitor, "SERVERS", (("Ollama", "http://127.0.0.1:1", "/api/tags", "models", "name"),))
    assert local_model() is None
