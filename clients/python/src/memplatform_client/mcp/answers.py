"""What tools return, in the words of agents."""

from typing import Any

from memplatform_client import models

_EVENT_STATUS = {"queued": "PENDING", "extraction_failed": "FAILED", "dead": "FAILED"}
_COUNTS = ("stored", "merged", "superseded", "pending_review", "discarded", "memory_ids")


def added(accepted: models.TurnsAcceptedResponse | models.TurnsResponse) -> dict[str, Any]:
    """Return the event that has begun, and the messages that were not taken."""
    begun: dict[str, Any] = {"event_id": accepted["trace_id"], "status": _event_status(accepted["status"])}
    skipped = [{**each, "pointer": each["pointer"].replace("/turns/", "/messages/", 1)} for each in accepted["skipped"]]
    return {**begun, "skipped": skipped} if skipped else begun


def stored(answer: models.StoredMemoriesResponse) -> dict[str, Any]:
    """Return the memories that were stored without extraction."""
    return {"status": "SUCCEEDED", "results": [shown(memory) for memory in answer["results"]]}


def event(trace: models.TraceResponse) -> dict[str, Any]:
    """Return what became of an event."""
    counts = {name: trace["counts"][name] for name in _COUNTS if name in trace["counts"]}
    reasons = [outcome["reason"] for outcome in trace["outcomes"] if outcome["outcome"] == "discarded"]
    return {
        "event_id": trace["id"],
        "status": _event_status(trace["status"]),
        "trace_status": trace["status"],
        **counts,
        "discarded_for": sorted(set(reasons)),
        "error": trace["error"],
    }


def shown(memory: models.MemoryResponse | models.FoundMemoryResponse) -> dict[str, Any]:
    """Return what an agent needs of a memory; get_memory has the rest."""
    brief: dict[str, Any] = {"id": memory["id"], "memory": memory["content"]}
    for name in ("type", "status", "confidence", "said_at", "user_id", "version"):  # a search has the first and said_at
        if (value := memory.get(name)) is not None:
            brief[name] = value
    if (score := memory.get("score")) is not None:  # of a search; 0 is one
        brief["score"] = score
    for name in ("tags", "metadata", "disputed", "unverified", "past_plan"):
        if value := memory.get(name):
            brief[name] = value
    return brief


def _event_status(status: models.TraceStatus) -> str:
    return _EVENT_STATUS.get(status, "SUCCEEDED")
