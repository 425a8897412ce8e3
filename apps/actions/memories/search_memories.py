"""Search an end user's memories under the project's policy."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.actions.live_ports import live
from apps.actions.memories.count_accesses import ACCESSES
from apps.memories.search import SearchHit, SearchQuery, search
from apps.pipeline.core.identifiers import end_user_id
from apps.tenants.scope import tenant_scope
from apps.traces.policies import active_policy


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search request; `user_id` is the caller's identifier."""

    project_id: UUID
    user_id: str
    query: SearchQuery


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, and the time for which they were ranked."""

    hits: tuple[SearchHit, ...]
    at: datetime


def search_memories(*, request: SearchRequest) -> SearchResult:
    """Search; an end user without memories, known or not, has no hits.

    Raises ProviderError if the embedder fails.
    """
    ports = live()
    now = ports.clock.now()
    end_user = end_user_id(project_id=request.project_id, user_id=request.user_id)
    with tenant_scope(project_id=request.project_id, end_user_id=end_user):
        hits = search(
            end_user_id=end_user,
            query=request.query,
            embedder=ports.embedder,
            policy=active_policy(project_id=request.project_id).retrieval,
            now=now,
        )
    ACCESSES.note(end_user_id=end_user, memory_ids=[hit.memory.id for hit in hits], at=now)
    return SearchResult(hits=hits, at=now)
