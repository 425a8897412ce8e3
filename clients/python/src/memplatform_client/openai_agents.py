"""A session of the OpenAI Agents SDK on a server: `Runner.run(agent, "…", session=MemplatformSession(…))`."""

import uuid
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem

from memplatform_client.async_client import AsyncClient
from memplatform_client.calls import run_item_operations, search_items, write_turns
from memplatform_client.models import TurnBody
from memplatform_client.steps import Steps, run_async

PAGE = 200  # items of one answer
BATCH = 50  # items of one request
SPEAKERS = ("user", "assistant")
TEXT_PARTS = ("input_text", "output_text")
MOST_CHARACTERS = 20_000  # of a turn


class MemplatformSession:
    """The items of a conversation, kept verbatim and in order; what is said in it is remembered as well.

    Messages of user and assistant are also sent as turns, of which the server makes memories of the end user; what the
    other items hold is only kept. A popped or cleared item is deleted, while memories stay. Deleting the session
    deletes both, as erase_user does.
    """

    def __init__(
        self,
        session_id: str,
        client: AsyncClient,
        *,
        user_id: str,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client
        self._user_id = user_id
        self._namespace = ("agent_session", user_id, session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the latest items, oldest first; all of them without a limit."""
        most = self.session_settings.limit if limit is None and self.session_settings else limit
        return await run_async(self._latest(most), self._client)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items, and let the server remember what was said."""
        await run_async(self._add(cast(list[dict[str, Any]], items)), self._client)

    async def pop_item(self) -> TResponseInputItem | None:
        """Delete the newest item, and return it."""
        operation = {"operation": "pop", "namespace": self._namespace}
        (outcome,) = (await self._client.run_item_operations(operations=[operation]))["results"]
        item = outcome.get("item")
        return None if item is None else cast(TResponseInputItem, item["value"])

    async def clear_session(self) -> None:
        """Delete all items."""
        operation = {"operation": "clear", "namespace_prefix": self._namespace}
        await self._client.run_item_operations(operations=[operation])

    def _latest(self, most: int | None) -> Steps[list[TResponseInputItem]]:
        found: list[TResponseInputItem] = []
        while most is None or most < 0 or len(found) < most:  # below 0 is no limit, as in the SDK's own session
            size = PAGE if most is None or most < 0 else min(PAGE, most - len(found))
            page = yield search_items(
                namespace_prefix=self._namespace, order="newest", limit=size, offset=len(found), refresh_ttl=False
            )
            found += [item["value"] for item in page["results"]]
            if len(page["results"]) < size:
                break
        return found[::-1]

    def _add(self, items: list[dict[str, Any]]) -> Steps[None]:
        for first in range(0, len(items), BATCH):
            some = items[first : first + BATCH]
            yield run_item_operations(operations=[self._put(item) for item in some])
            if turns := list(_turns(some)):
                yield write_turns(user_id=self._user_id, session_id=self.session_id, turns=turns)

    def _put(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the operation that stores an item; under a key of its own, so that sending it again adds nothing."""
        place = {"namespace": self._namespace, "key": uuid.uuid4().hex}
        owner = {"user_id": self._user_id, "session_id": self.session_id}
        return {"operation": "put", **place, "value": item, **owner, "text": ""}


def _turns(items: list[dict[str, Any]]) -> Iterator[TurnBody]:
    """Yield what user and assistant say in messages."""
    for item in items:
        if item.get("role") in SPEAKERS and item.get("type", "message") == "message":
            text = _text(item.get("content"))[:MOST_CHARACTERS]
            if text.strip():
                yield {"role": item["role"], "content": text}


def _text(content: Any) -> str:
    """Return the texts of a message, without images and files."""
    if isinstance(content, str):
        return content
    parts = [part for part in content or () if isinstance(part, dict) and part.get("type") in TEXT_PARTS]
    return "\n".join(str(part.get("text", "")) for part in parts)
