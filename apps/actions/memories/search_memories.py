"""Search an end user's memories under the project's policy."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.actions.live_ports import live
from apps.actions.memories.count_accesses import ACCESSES
from apps.memories.search import SearchHit, SearchQuery, search
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.policy import Policy, RetrievalPolicy
from apps.traces.drafts import policy_of
from apps.traces.models import ConfigurationVersion


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search as a caller asks for it; `user_id` is the caller's own."""

    project_id: UUID
    user_id: str
    query: SearchQuery


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, and the moment that they were judged at."""

    hits: tuple[SearchHit, ...]
    at: datetime


def search_memories(*, request: SearchRequest) -> SearchResult:
    """Search; an end user without memories, known or not, has no hits.

    Raises ProviderError when the embedder can't answer.
    """
    ports = live()
    now = ports.clock.now()
    end_user = end_user_id(project_id=request.project_id, user_id=request.user_id)
    hits = search(
        end_user_id=end_user,
        query=request.query,
        embedder=ports.embedder,
        policy=retrieval_policy(project_id=request.project_id),
        now=now,
    )
    ACCESSES.note(end_user_id=end_user, memory_ids=[hit.memory.id for hit in hits], at=now)
    return SearchResult(hits=hits, at=now)


def retrieval_policy(*, project_id: UUID) -> RetrievalPolicy:
    """Return how the project retrieves."""
    return active_policy(project_id=project_id).retrieval


def active_policy(*, project_id: UUID) -> Policy:
    """Return the project's active configuration, or the product's own where it has none."""
    active = ConfigurationVersion.objects.filter(project_id=project_id, is_active=True)
    configuration = active.values_list("id", flat=True).first()
    return policy_of(configuration) if configuration else Policy()
