"""Answer MCP messages; the MCP SDK is read with the first, as it takes 17 MB and a quarter of a second."""

import asyncio
import importlib

from memplatform.serving.buffered_application import Answer
from memplatform.serving.protocol import Exchange
from memplatform.serving.threaded_application import Environ


async def answer_mcp(environ: Environ, exchange: Exchange, answer: Answer) -> None:
    """Answer a message whose caller was checked; see memplatform.mcp.service."""
    service = await asyncio.get_running_loop().run_in_executor(None, importlib.import_module, "memplatform.mcp.service")
    await service.answer_mcp(environ, exchange, answer)
