"""Collect the result of the demo over the REST API, plus the number of embeddings from the database."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.memories.models import MemoryVector
from apps.pipeline.core.identifiers import end_user_id
from apps.tenants.command_arguments import project_named
from apps.tenants.scope import tenant_scope
from memplatform.demo.client import Client
from memplatform.demo.conversation import Posted, traces_of

QUESTION = "Where does Ana live?"
TASK = "Suggest a place for dinner with her manager"
TOKENS = 400
STATUSES = ("active", "pending_review", "superseded")
SUMMED = ("turns", "candidates", "discarded", "merged", "superseded", "pending_review", "stored")


@dataclass(frozen=True, slots=True)
class Funnel:
    """How many turns and candidates reached each step."""

    turns: int
    rejected: Mapping[str, int]  # by reason
    candidates: int
    discarded: int
    merged: int
    superseded: int
    pending_review: int
    stored: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that is printed; the dictionaries are responses of the REST API."""

    posted: Posted
    funnel: Funnel
    memories: tuple[dict[str, Any], ...]
    links: tuple[dict[str, Any], ...]
    found: tuple[dict[str, Any], ...]
    context: dict[str, Any]


def gather(*, client: Client, posted: Posted, project: str) -> Result:
    """Read everything."""
    user_id = posted.user_id
    memories = tuple(client.pages("/v1/memories", user_id=user_id, statuses=STATUSES, limit=200))
    found = client.post("/v1/memories/search", {"user_id": user_id, "query": QUESTION, "limit": 5})
    context = client.post("/v1/context", {"user_id": user_id, "query": TASK, "token_budget": TOKENS})
    return Result(
        posted=posted,
        funnel=_funnel(traces_of(client, posted), vectors=_vectors(project=project, user_id=user_id)),
        memories=memories,
        links=_links(client, memories),
        found=tuple(found.body["results"]),
        context=context.body,
    )


def _funnel(traces: list[dict[str, Any]], *, vectors: int) -> Funnel:
    summed = {name: sum(trace["counts"].get(name, 0) for trace in traces) for name in SUMMED}
    rejected: Counter[str] = Counter()
    for trace in traces:
        rejected.update(trace["counts"].get("rejected", {}))
    return Funnel(rejected=dict(rejected.most_common()), vectors=vectors, **summed)


def _links(client: Client, memories: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """Return each link once, with the contents of its two memories."""
    content = {memory["id"]: memory["content"] for memory in memories}
    found: dict[str, dict[str, Any]] = {}
    for memory in memories:
        for link in client.get(f"/v1/memories/{memory['id']}")["links"]:
            pair = [memory["content"], content.get(link["memory_id"], link["memory_id"])]
            found.setdefault(link["id"], {"kind": link["kind"], "status": link["status"], "between": pair})
    return tuple(found.values())


def _vectors(*, project: str, user_id: str) -> int:
    project_id = project_named(project).pk
    user = end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=user):
        return MemoryVector.objects.filter(end_user_id=user).count()
