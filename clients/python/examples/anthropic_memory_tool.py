"""Claude's memory tool across two runs, with a scripted model. Needs MEMPLATFORM_URL and MEMPLATFORM_API_KEY."""

import json
from typing import Any

import httpx2
from anthropic import Anthropic, DefaultHttpxClient

from memplatform_client import Client
from memplatform_client.anthropic import MemoryTool

NOTE = {"command": "create", "path": "/memories/kim.md", "file_text": "Kim lives in Porto.\n"}


def model(request: httpx2.Request) -> httpx2.Response:
    """Answer as Claude would: use the tool, then answer from what it returned. Without a script, leave this out."""
    latest = json.loads(request.content)["messages"][-1]["content"]
    if isinstance(latest, str):
        wanted = {"command": "view", "path": NOTE["path"]} if latest.endswith("?") else NOTE
        content: dict[str, Any] = {"type": "tool_use", "id": "call_1", "name": "memory", "input": wanted}
    else:  # the result of the tool
        content = {"type": "text", "text": latest[0]["content"]}
    reason = "end_turn" if content["type"] == "text" else "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1}
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [content]}
    return httpx2.Response(200, json={**answer, "stop_reason": reason, "stop_sequence": None, "usage": usage})


claude = Anthropic(api_key="none", http_client=DefaultHttpxClient(transport=httpx2.MockTransport(model)))
with Client() as client:
    for said in ("I live in Porto.", "Where do I live?"):
        runner = claude.beta.messages.tool_runner(
            model="scripted",
            max_tokens=1_000,
            messages=[{"role": "user", "content": said}],
            tools=[MemoryTool(client, user_id="kim")],
        )
        print(runner.until_done().content[0].text)  # type: ignore[union-attr]
