"""A file is sent, checked and imported."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from memplatform_client import AsyncClient, WaitTimeout, import_calls
from scripted import AT_ONCE, ScriptedServer, scripted

MADE = {"id": "imp_1", "status": "uploading"}


def in_state(state: str) -> tuple[int, Any]:
    return (200, {**MADE, "status": state})


@pytest.mark.parametrize("is_async", [False, True])
def test_a_file_is_sent_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool) -> None:
    monkeypatch.setattr(import_calls, "POLL_SECONDS", 0)
    file = tmp_path / "conversations.json"
    file.write_bytes(b"0123456789")
    answers = [(201, MADE), *map(in_state, ("checking", "checking", "checked"))]
    client, server = scripted(*answers)
    given: Any = {"format": "claude", "user_id": "kim", "users": {"account": "bo"}}
    if is_async:
        with ThreadPoolExecutor(1) as thread:  # other tests keep an event loop in this one
            checked = thread.submit(asyncio.run, uploaded(server, file, given)).result()
    else:
        checked = client.upload_import(file, **given)

    assert checked["status"] == "checked"
    assert [(each.method, each.url.path) for each in server.requests] == [
        ("POST", "/v1/imports"),
        ("PUT", "/v1/imports/imp_1/file"),
        *[("GET", "/v1/imports/imp_1")] * 2,
    ]
    assert server.requests[1].content == b"0123456789"
    assert server.requests[1].headers["Content-Type"] == "application/octet-stream"


async def uploaded(server: ScriptedServer, file: Path, given: Any) -> Any:
    transport = httpx2.MockTransport(server.answer)
    async with AsyncClient("http://server", "mp_key", retries=AT_ONCE, http_transport=transport) as client:
        return await client.upload_import(file, **given)


def test_waiting_for_an_import_ends() -> None:
    client, _ = scripted(in_state("running"))
    with pytest.raises(WaitTimeout, match="running"):
        client.wait_import("imp_1", timeout=0)
