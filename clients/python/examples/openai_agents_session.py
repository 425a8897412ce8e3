"""An agent of the OpenAI Agents SDK across two runs. Needs MEMPLATFORM_URL and MEMPLATFORM_API_KEY."""

import asyncio
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from memplatform_client import AsyncClient
from memplatform_client.openai_agents import MemplatformSession


class ScriptedModel(Model):
    """Answers as a language model would, from the conversation that the session has kept."""

    async def get_response(self, system_instructions: str | None, input: Any, *args: Any, **options: Any) -> Any:
        """Return what was said first, if asked."""
        said = [item["content"] for item in input if item.get("role") == "user"]
        text = f"You told me: {said[0]}" if said[-1].endswith("?") else "I will remember that."
        part = ResponseOutputText(type="output_text", text=text, annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **options: Any) -> Any:
        """Not needed here."""
        raise NotImplementedError


async def main() -> None:
    """Talk twice in one session, and read what is remembered of it in another one."""
    agent = Agent(name="Companion", model=ScriptedModel())
    async with AsyncClient() as client:
        for said in ("I live in Porto.", "Where do I live?"):
            session = MemplatformSession("monday", client, user_id="kim")
            print((await Runner.run(agent, said, session=session)).final_output)


set_tracing_disabled(True)
asyncio.run(main())
