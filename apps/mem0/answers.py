"""Answers in the words of mem0's client."""

from collections.abc import Sequence
from typing import Any

from apps.api.base import to_json
from apps.memories.api.bulk_bodies import bulk_items
from apps.memories.api.responses import memory_response
from apps.memories.models import Memory, MemoryVersion
from apps.memories.services.retracting import MatchingRetracted
from apps.pipeline.core.enums import Status
from apps.retrieval.search import SearchHit

GONE = (Status.RETRACTED, Status.REJECTED)
Answer = dict[str, Any]


def mem0_memory(memory: Memory) -> Answer:
    """Return a memory read with its subject, end user and session (Memory.objects.to_show)."""
    shown = memory_response(memory)
    names = ("id", "user_id", "agent_id", "app_id", "run_id", "metadata", "created_at", "updated_at")
    return {name: getattr(shown, name) for name in names} | {
        "memory": shown.content,
        "categories": [shown.topic] if shown.topic else [],
        "expiration_date": shown.expires_at,
    }


def found_answer(hit: SearchHit) -> Answer:
    """Return a memory that was found, and whether it waits for review or contradicts another one."""
    found = {"score": round(hit.score, 4), "unverified": hit.is_unverified, "disputed": bool(hit.contradicted_by)}
    return mem0_memory(hit.memory) | found


def listed_answer(found: Sequence[Memory], *, count: int, page: int, size: int, path: str) -> Answer:
    """Return a page of a list with the addresses of its neighbours."""
    following = f"{path}?page={page + 1}&page_size={size}" if page * size < count else None
    previous = f"{path}?page={page - 1}&page_size={size}" if page > 1 else None
    return {"count": count, "next": following, "previous": previous, "results": [mem0_memory(each) for each in found]}


def history_answer(memory: Memory, versions: Sequence[MemoryVersion]) -> list[Answer]:
    """Return the changes of a memory: added, then each wording that replaced another, and its deletion."""
    contents = [memory.content]  # the latest first
    for each in reversed(versions):  # a change that left the words as they were does not hold them
        contents.append(str(each.values.get("content") or contents[-1]))
    contents.reverse()
    answers = [_change(memory, 0, "ADD", None, contents[0], memory.created_at)]
    for place, each in enumerate(versions, start=1):
        event = "DELETE" if place == len(versions) and memory.status in GONE else "UPDATE"
        answers.append(_change(memory, place, event, contents[place - 1], contents[place], each.known_until))
    return answers


def _change(memory: Memory, place: int, event: str, old: str | None, new: str, at: Any) -> Answer:
    return {
        "id": f"{memory.shown_id}-{place}",
        "memory_id": memory.shown_id,
        "input": [],
        "old_memory": old,
        "new_memory": None if event == "DELETE" else new,
        "event": event,
        "user_id": memory.end_user.external_id,
        "metadata": memory.metadata,
        "created_at": at,
        "updated_at": at,
    }


def user_answer(user: Any) -> Answer:
    """Return a row of list_users as an entity."""
    return {
        "id": user.shown_id,
        "name": user.external_id,
        "type": "user",
        "total_memories": user.live_memories,
        "owner": None,
        "created_at": user.created_at,
        "updated_at": user.created_at,
    }


def deleted_answer(done: MatchingRetracted) -> Answer:
    """Return that all memories are deleted, or what was refused. Raises the error of the first if all were."""
    if not done.refused:
        return {"message": "Memories deleted successfully!"}
    if not done.retracted and done.refused[0].error is not None:
        raise done.refused[0].error
    refused = [to_json(each) for each in bulk_items(done.refused)]
    return {"message": f"{done.retracted} of {done.found} memories deleted", "results": refused}
