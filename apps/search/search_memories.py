"""Search an end user's memories under the project's policy."""

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from apps.memories.live_ports import live
from apps.memories.services.count_accesses import ACCESSES
from apps.memories.services.waiting_messages import WaitingMessage, waiting_messages
from apps.pipeline.core.identifiers import end_user_id
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import SearchHit, search
from apps.tenants.scope import tenant_scope
from apps.traces.policies import active_policy

MOST_CLOSEST = 3


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search request; `user_id` is the caller's identifier."""

    project_id: UUID
    user_id: str
    query: SearchQuery
    with_closest: bool = False  # also what came nearest if nothing is found


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, the time for which they were ranked, and messages that wait to be processed.

    Without hits, `closest` has what came nearest, if the request asks for it.
    """

    hits: tuple[SearchHit, ...]
    at: datetime
    closest: tuple[SearchHit, ...] = ()
    waiting: tuple[WaitingMessage, ...] = ()


def search_memories(*, request: SearchRequest) -> SearchResult:
    """Search; an end user without memories, known or not, has no hits.

    Raises ProviderError if the embedder fails.
    """
    ports = live()
    now = ports.clock.now()
    end_user = end_user_id(project_id=request.project_id, user_id=request.user_id)
    with tenant_scope(project_id=request.project_id, end_user_id=end_user):
        ask = partial(
            search,
            end_user_id=end_user,
            embedder=ports.embedder,
            policy=active_policy(project_id=request.project_id).retrieval,
            now=now,
        )
        hits = ask(query=request.query)
        is_asked = request.with_closest and not hits
        closest = ask(query=replace(request.query, min_score=0.0, limit=MOST_CLOSEST)) if is_asked else ()
        waiting = _waiting(end_user, request.query)
    ACCESSES.note(end_user_id=end_user, memory_ids=[hit.memory.id for hit in hits], at=now)
    return SearchResult(hits=hits, at=now, closest=closest, waiting=waiting)


def _waiting(end_user: UUID, query: SearchQuery) -> tuple[WaitingMessage, ...]:
    """Return waiting messages for a query without conditions, which only memories can meet."""
    text = query.text
    if query != SearchQuery(text=text, limit=query.limit, min_score=query.min_score, told_in=query.told_in):
        return ()
    return waiting_messages(end_user_id=end_user, query=text, told_in=query.told_in)
