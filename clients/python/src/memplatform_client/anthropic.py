"""The memory tool of the Anthropic SDK on the items of a server: `tools=[MemoryTool(Client(), user_id="kim")]`."""

from anthropic.lib.tools import BetaFunctionToolResultType
from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memplatform_client.async_client import AsyncClient
from memplatform_client.client import Client
from memplatform_client.memory_files import MemoryFiles
from memplatform_client.steps import run, run_async


class MemoryTool(BetaAbstractMemoryTool):
    """The files of one end user below /memories, which the server keeps, exports and erases with the user."""

    def __init__(self, client: Client, *, user_id: str) -> None:
        super().__init__()
        self._client = client
        self._files = MemoryFiles(user_id=user_id)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        """Show a file with line numbers, or the content of a directory."""
        return run(self._files.view(command.path, command.view_range), self._client)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        """Create a file."""
        return run(self._files.create(command.path, command.file_text), self._client)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> BetaFunctionToolResultType:
        """Replace a text that a file holds once."""
        return run(self._files.str_replace(command.path, command.old_str, command.new_str), self._client)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        """Insert a text behind a line."""
        return run(self._files.insert(command.path, command.insert_line, command.insert_text), self._client)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        """Delete a file or directory."""
        return run(self._files.delete(command.path), self._client)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        """Rename or move a file or directory."""
        return run(self._files.rename(command.old_path, command.new_path), self._client)

    def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Delete all files."""
        return run(self._files.clear(), self._client)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The files of one end user below /memories, which the server keeps, exports and erases with the user."""

    def __init__(self, client: AsyncClient, *, user_id: str) -> None:
        super().__init__()
        self._client = client
        self._files = MemoryFiles(user_id=user_id)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        """Show a file with line numbers, or the content of a directory."""
        return await run_async(self._files.view(command.path, command.view_range), self._client)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        """Create a file."""
        return await run_async(self._files.create(command.path, command.file_text), self._client)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> BetaFunctionToolResultType:
        """Replace a text that a file holds once."""
        return await run_async(self._files.str_replace(command.path, command.old_str, command.new_str), self._client)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        """Insert a text behind a line."""
        return await run_async(self._files.insert(command.path, command.insert_line, command.insert_text), self._client)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        """Delete a file or directory."""
        return await run_async(self._files.delete(command.path), self._client)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        """Rename or move a file or directory."""
        return await run_async(self._files.rename(command.old_path, command.new_path), self._client)

    async def clear_all_memory(self) -> BetaFunctionToolResultType:
        """Delete all files."""
        return await run_async(self._files.clear(), self._client)
