"""Search an end user's memories under the project's policy."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.actions.live_ports import live
from apps.actions.memories.count_accesses import ACCESSES
from apps.actions.memories.waiting_messages import WaitingMessage, waiting_messages
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
    """The hits, best first, the time for which they were ranked, and messages that wait to be processed."""

    hits: tuple[SearchHit, ...]
    at: datetime
    waiting: tuple[WaitingMessage, ...] = ()


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
        waiting = _waiting(end_user, request.query)
    ACCESSES.note(end_user_id=end_user, memory_ids=[hit.memory.id for hit in hits], at=now)
    return SearchResult(hits=hits, at=now, waiting=waiting)


def _waiting(end_user: UUID, query: SearchQuery) -> tuple[WaitingMessage, ...]:
    """Return waiting messages for a query without conditions, which only memories can meet."""
    text = query.text
    if query != SearchQuery(text=text, limit=query.limit, min_score=query.min_score, told_in=query.told_in):
        return ()
    return waiting_messages(end_user_id=end_user, query=text, told_in=query.told_in)
