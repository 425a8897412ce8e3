"""The six tools: what an agent is told of each, and the request of the REST API that it is.

Arguments are fields of that request, under the same names and checked by the server; answers are those of the API.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from memplatform_client.calls import in_path
from memplatform_client.client import cursor_of
from memplatform_client.mcp.access import Access, ToolError

Schema = dict[str, Any]
Arguments = dict[str, Any]
NOTHING = "Nothing is remembered about this user."
TOO_SMALL = "Something is remembered about this user, but nothing of it fits into this token_budget."

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NUMBER: Schema = {"type": "integer"}
_OBJECT: Schema = {"type": "object"}
_SCOPE = {"user_id": _TEXT, "agent_id": _TEXT, "app_id": _TEXT, "run_id": _TEXT}
# What an agent needs of each memory in a list.
_BRIEF = ("id", "content", "type", "status", "confidence", "said_at", "tags", "metadata", "version")
_READS = {"readOnlyHint": True, "openWorldHint": False}
_ADDS = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
_CHANGES = {**_ADDS, "idempotentHint": True}
_RETRACTS = {**_CHANGES, "destructiveHint": True}


def _described(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


async def add_memory(access: Access, arguments: Arguments) -> Any:
    """Send turns, or store a sentence as it is."""
    body, call = access.told(arguments), access.name_of_call()
    content, turns, occurred_at = (body.pop(name, None) for name in ("content", "turns", "occurred_at"))
    infer, wait = body.pop("infer", True), body.pop("wait", 0)
    if (content is None) == (turns is None):
        raise ToolError("give either content or turns")
    if not infer:
        if content is None:
            raise ToolError("infer: false stores content as it is: it goes without turns")
        user_id, memory = body.pop("user_id"), {"type": "fact", "content": content, "said_at": occurred_at, **body}
        return await access.send("/v1/memories", {"user_id": user_id, "memories": [memory]}, once=call)
    said = {"role": "user", "occurred_at": occurred_at}
    if turns is None:
        turns = [{"content": content}]
    if isinstance(turns, list):
        turns = [{**said, **turn} if isinstance(turn, Mapping) else turn for turn in turns]
    accepted = await access.send("/v1/turns", {"session_id": call, **body, "turns": turns}, once=call)
    if not wait:
        return accepted
    trace = await access.client.read_trace(accepted["trace_id"], wait=wait, milestone="indexed")
    outcome = {name: trace[name] for name in ("status", "outcomes", "error")}
    return {**accepted, **outcome, **trace["counts"]}


async def search_memories(access: Access, arguments: Arguments) -> Any:
    """Search, or without a query list what is remembered."""
    wanted = await access.meant(arguments)
    if "query" in wanted:
        return await access.send("/v1/memories/search", wanted)
    page = await access.client.list_memories(**wanted)
    results = [{name: memory[name] for name in _BRIEF} for memory in cast(list[dict[str, Any]], page["results"])]
    return {"results": results, "next_cursor": cursor_of(page["next"]) if page["next"] else None}


async def get_context(access: Access, arguments: Arguments) -> Any:
    """Return the context block as a text."""
    block = await access.send("/v1/context", await access.meant(arguments))
    return block["context"] or (TOO_SMALL if block["omitted"] else NOTHING)


async def get_memory(access: Access, arguments: Arguments) -> Any:
    """Return a memory, and its history if it is asked for."""
    memory_id = str(arguments["memory_id"])
    memory = await access.client.read_memory(memory_id)
    return {**memory, "history": await access.client.read_history(memory_id)} if arguments.get("history") else memory


async def update_memory(access: Access, arguments: Arguments) -> Any:
    """Revise a memory."""
    return await access.client.request("PATCH", _path_of(arguments.pop("memory_id")), body=arguments)


async def delete_memory(access: Access, arguments: Arguments) -> Any:
    """Retract a memory."""
    await access.client.request("DELETE", _path_of(arguments["memory_id"]))
    return {"memory_id": arguments["memory_id"], "status": "retracted"}


def _path_of(memory_id: Any) -> str:
    return f"/v1/memories/{in_path(str(memory_id))}"


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, as agents see it and as a function."""

    run: Callable[[Access, Arguments], Awaitable[Any]]
    description: str
    annotations: dict[str, bool]
    arguments: dict[str, Schema]
    required: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name by which it is called."""
        return self.run.__name__

    @property
    def only_reads(self) -> bool:
        """Tell whether it changes nothing."""
        return self.annotations["readOnlyHint"]

    def shown(self) -> dict[str, Any]:
        """Return what `tools/list` says of it."""
        schema = {"type": "object", "properties": self.arguments, "additionalProperties": False}
        if self.required:
            schema["required"] = list(self.required)
        described = {"description": self.description, "inputSchema": schema, "annotations": self.annotations}
        return {"name": self.name, **described}

    def checked(self, given: Mapping[str, Any]) -> Arguments:
        """Return the arguments that have a value: null and "" are none. Raises ToolError."""
        for name in given:
            if name not in self.arguments:
                raise ToolError(f"{self.name} has no argument {name}; it takes {', '.join(self.arguments)}")
        read = {name: _read(value, self.arguments[name]) for name, value in given.items()}
        arguments = {name: value for name, value in read.items() if value is not None and value != ""}
        for name in self.required:
            if name not in arguments:
                raise ToolError(f"{self.name} needs {name}")
        return arguments


def _read(value: Any, schema: Schema) -> Any:
    """Return a value that is no text, also if the client sends it as JSON in a text."""
    if not isinstance(value, str) or schema.get("type", "string") == "string":
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value  # the server says what is wrong with it


_MEMORY_ID = {"memory_id": _TEXT}
TOOLS = (
    Tool(
        add_memory,
        "Remember what is worth it in something that was said. Give the user's own words as content, or a "
        "conversation as turns. Returns a trace_id at once; extraction follows in the background.",
        _ADDS,
        {
            "content": _described(_TEXT, "What the user said."),
            "turns": {
                "type": "array",
                "items": _OBJECT,
                "description": "Messages with role and content; name where several people talk; occurred_at.",
            },
            "occurred_at": _described(_TEXT, "When it was said, RFC 3339 with offset."),
            "session_id": _described(_TEXT, "The conversation; a new one by default."),
            "wait": _described(_NUMBER, "Seconds (up to 30) to wait for what was stored, and why not."),
            "infer": _described({"type": "boolean"}, "false stores content word for word, without extraction."),
            "topic": _TEXT,
            "metadata": _OBJECT,
            **_SCOPE,
        },
    ),
    Tool(
        search_memories,
        "Search what is remembered about a user, best first. Without query: all of it, newest first, in pages.",
        _READS,
        {
            "query": _TEXT,
            "limit": _described(_NUMBER, "1 to 100; 10 by default."),
            "types": _described(_TEXTS, "fact, preference, event, decision, procedure…"),
            "topics": _TEXTS,
            "tags": _TEXTS,
            "entities": _described(_TEXTS, "Names of people, places, things."),
            "metadata": _OBJECT,
            "filter": _described(_OBJECT, "Conditions with AND, OR, NOT."),
            "statuses": _described(_TEXTS, "active by default; superseded, retracted…"),
            "since": _described(_TEXT, "Said on or after this day or time."),
            "until": _TEXT,
            "as_of": _described(_TEXT, "What was true at this time."),
            "min_score": {"type": "number"},
            "fields": _described(_TEXTS, "More fields of results, or all. Needs query."),
            "cursor": _described(_TEXT, "next_cursor of the page before. Without query."),
            **_SCOPE,
        },
    ),
    Tool(
        get_context,
        "Get a block of text for a prompt: what is remembered about a user, the most useful for query first.",
        _READS,
        {
            "query": _described(_TEXT, "What is to be done or answered."),
            "token_budget": _described(_NUMBER, "1000 by default."),
            **_SCOPE,
        },
    ),
    Tool(
        get_memory,
        "Read one memory in full: all fields, the words it comes from and links.",
        _READS,
        {**_MEMORY_ID, "history": _described({"type": "boolean"}, "Also its past versions, and who changed it.")},
        ("memory_id",),
    ),
    Tool(
        update_memory,
        "Correct a memory; the old wording stays in its history.",
        _CHANGES,
        {
            **_MEMORY_ID,
            "content": _described(_TEXT, "The corrected sentence."),
            "topic": _TEXT,
            "tags": _TEXTS,
            "metadata": _OBJECT,
            "valid_until": _described(_TEXT, "When it ceased to be true."),
            "version": _described(_NUMBER, "Only if it still has this version."),
        },
        ("memory_id",),
    ),
    Tool(
        delete_memory,
        "Retract a memory that is wrong or unwanted: it is no longer found, and its history stays.",
        _RETRACTS,
        _MEMORY_ID,
        ("memory_id",),
    ),
)
