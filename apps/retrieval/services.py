"""Search an end user's memories, build the context block, and explain both."""

from dataclasses import dataclass
from uuid import UUID

from apps.memories.live_ports import live
from apps.memories.services.count_accesses import ACCESSES
from apps.memories.services.waiting_messages import WaitingMessage, waiting_messages
from apps.pipeline.core.enums import Stakes
from apps.pipeline.core.identifiers import end_user_id
from apps.projects.services import policy_of_version
from apps.retrieval.block import ContextBlock
from apps.retrieval.context import build_block
from apps.retrieval.explain import Recall, explain
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import SearchHit, ranked
from apps.tenants.scope import tenant_scope
from apps.traces.policies import active_policy

MOST_CLOSEST = 3


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits, best first, and messages that wait to be processed.

    Without hits, `closest` has what came nearest, if the request asks for it.
    """

    hits: tuple[SearchHit, ...]
    closest: tuple[SearchHit, ...] = ()
    waiting: tuple[WaitingMessage, ...] = ()


def search_memories(
    *, project_id: UUID, user_id: str, query: SearchQuery, in_short: bool = False, with_closest: bool = False
) -> SearchResult:
    """Search; an end user without memories, known or not, has no hits.

    `in_short` reads only what a short result shows; `with_closest` returns what came nearest if nothing is found.
    Raises ProviderError if the embedder fails.
    """
    ports = live()
    user, now = end_user_id(project_id=project_id, user_id=user_id), ports.now()
    with tenant_scope(project_id=project_id, end_user_id=user):
        policy = active_policy(project_id=project_id).retrieval
        with ranked(end_user_id=user, query=query, embedder=ports.embedder, policy=policy, now=now) as ranking:
            hits = ranking.results(in_short=in_short)
            nearest = ranking.best(limit=MOST_CLOSEST, min_score=0.0) if with_closest and not hits else []
            closest = ranking.hits(nearest, in_short=in_short)
        # Only memories can meet the conditions of a query.
        text = query.text
        is_plain = query == SearchQuery(text=text, limit=query.limit, min_score=query.min_score, told_in=query.told_in)
        waiting = waiting_messages(end_user_id=user, query=text, told_in=query.told_in) if is_plain else ()
    ACCESSES.note(end_user_id=user, memory_ids=[hit.memory.id for hit in hits], at=now)
    return SearchResult(hits=hits, closest=closest, waiting=waiting)


def build_context(*, project_id: UUID, user_id: str, query: SearchQuery, token_budget: int) -> ContextBlock:
    """Render the memories of an end user within the token budget of the request.

    Raises ProviderError if the embedder fails.
    """
    ports = live()
    user, now = end_user_id(project_id=project_id, user_id=user_id), ports.now()
    with tenant_scope(project_id=project_id, end_user_id=user):
        is_verified_only = query.stakes is Stakes.HIGH
        waiting = (
            () if is_verified_only else waiting_messages(end_user_id=user, query=query.text, told_in=query.told_in)
        )
        policy = active_policy(project_id=project_id).retrieval
        with ranked(end_user_id=user, query=query, embedder=ports.embedder, policy=policy, now=now) as ranking:
            block = build_block(ranking, token_budget=token_budget, quotes=waiting)
    ACCESSES.note(end_user_id=user, memory_ids=block.memory_ids, at=now)
    return block


def explain_recall(
    *, project_id: UUID, end_user_id: UUID, query: SearchQuery, token_budget: int, version: int | None = None
) -> Recall:
    """Search and build a block under a configuration version, by default the active one, as requests of agents do.

    A block tells of the present, so there is none with `as_of`. Raises NotFound for an unknown version, ProviderError
    if the embedder fails.
    """
    policy = policy_of_version(project_id=project_id, number=version).retrieval
    ports = live()
    now = ports.now()
    with (
        tenant_scope(project_id=project_id, end_user_id=end_user_id),
        ranked(end_user_id=end_user_id, query=query, embedder=ports.embedder, policy=policy, now=now) as ranking,
    ):
        return explain(ranking, block=None if query.as_of else build_block(ranking, token_budget=token_budget))
