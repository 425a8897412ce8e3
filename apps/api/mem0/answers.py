"""Answers in the words of mem0's client."""

from collections.abc import Sequence
from typing import Any

from apps.actions.memories.bulk_outcome import BulkOutcome, count_refused
from apps.actions.memories.retracting import MatchingRetracted
from apps.api.schemas.bulk import bulk_items, bulk_response
from apps.api.schemas.memory_responses import memory_response
from apps.api.views.base import to_json
from apps.memories.models import Memory, MemoryVersion
from apps.pipeline.core.enums import Status, TraceStatus
from apps.retrieval.search import SearchHit
from apps.traces.enums import IndexState
from apps.traces.models import Trace

_FAILED = (TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED)
_GONE = (Status.RETRACTED, Status.REJECTED)
Answer = dict[str, Any]


def mem0_memory(memory: Memory) -> Answer:
    """Return a memory read with its subject, end user and session (Memory.objects.to_show)."""
    shown = memory_response(memory)
    return {
        "id": shown.id,
        "memory": shown.content,
        "user_id": shown.user_id,
        "agent_id": shown.agent_id,
        "app_id": shown.app_id,
        "run_id": shown.run_id,
        "metadata": shown.metadata,
        "categories": [shown.topic] if shown.topic else [],
        "created_at": shown.created_at,
        "updated_at": shown.updated_at,
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
    contents = [str(each.values.get("content", "")) for each in versions]
    for place in range(len(contents) - 1, -1, -1):  # a change that left the words as they were does not hold them
        contents[place] = contents[place] or (contents[place + 1] if place + 1 < len(contents) else memory.content)
    contents.append(memory.content)
    answers = [_change(memory, 0, "ADD", None, contents[0], memory.created_at)]
    for place, each in enumerate(versions):
        is_last = place == len(versions) - 1
        event = "DELETE" if is_last and memory.status in _GONE else "UPDATE"
        answers.append(_change(memory, place + 1, event, contents[place], contents[place + 1], each.known_until))
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


def event_answer(trace: Trace, *, index: IndexState) -> Answer:
    """Return what became of added messages: they have succeeded when search finds them by words and by meaning."""
    status = TraceStatus(trace.status)
    ended = "RUNNING" if index is IndexState.PENDING else "SUCCEEDED"
    state = "PENDING" if status is TraceStatus.QUEUED else "FAILED" if status in _FAILED else ended
    return {
        "id": trace.shown_id,
        "event_type": "ADD",
        "status": state,
        "stored": trace.counts.get("stored", 0),
        "error": trace.error,
        "created_at": trace.created_at,
    }


def profile_answer(user_id: str) -> Answer:
    """Return the profile of an end user: none, since none is generated."""
    return {
        "profile": {},
        "status": "not_enabled",
        "entity_type": "user",
        "entity_id": user_id,
        "updated_at": None,
        "generation_count": 0,
    }


def batch_answer(verb: str, outcomes: Sequence[BulkOutcome]) -> Answer:
    """Return what became of the memories of a batch. Raises the error of the first if all were refused."""
    done = len(outcomes) - count_refused(outcomes)
    if not done and outcomes[0].error is not None:
        raise outcomes[0].error
    return {"message": f"{done} of {len(outcomes)} memories {verb}", **to_json(bulk_response(outcomes))}


def deleted_answer(done: MatchingRetracted) -> Answer:
    """Return that all memories are deleted, or what was refused. Raises the error of the first if all were."""
    if not done.refused:
        return {"message": "Memories deleted successfully!"}
    if not done.retracted and done.refused[0].error is not None:
        raise done.refused[0].error
    refused = [to_json(each) for each in bulk_items(done.refused)]
    return {"message": f"{done.retracted} of {done.found} memories deleted", "results": refused}
