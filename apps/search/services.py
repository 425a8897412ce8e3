"""Search an end user's memories, build the context block, and explain both."""

from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from apps.memories.live_ports import live
from apps.memories.services.count_accesses import ACCESSES
from apps.memories.services.waiting_messages import WaitingMessage, waiting_messages
from apps.pipeline.core.enums import Stakes
from apps.pipeline.core.identifiers import end_user_id
from apps.projects.services import policy_of_version
from apps.providers.wordllama import count_tokens
from apps.retrieval.block import ArrangedLines, RenderedBlock, WaitingQuote, arrange, rendered
from apps.retrieval.context import ContextQuery, build_block, known_user
from apps.retrieval.explain import SearchExplanation, explain_search
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import SearchHit, search
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
    now = ports.clock.now()
    end_user = end_user_id(project_id=project_id, user_id=user_id)
    with tenant_scope(project_id=project_id, end_user_id=end_user):
        ask = partial(
            search,
            end_user_id=end_user,
            embedder=ports.embedder,
            policy=active_policy(project_id=project_id).retrieval,
            now=now,
            in_short=in_short,
        )
        hits = ask(query=query)
        is_asked = with_closest and not hits
        closest = ask(query=replace(query, min_score=0.0, limit=MOST_CLOSEST)) if is_asked else ()
        # Only memories can meet the conditions of a query.
        text = query.text
        is_plain = query == SearchQuery(text=text, limit=query.limit, min_score=query.min_score, told_in=query.told_in)
        waiting = waiting_messages(end_user_id=end_user, query=text, told_in=query.told_in) if is_plain else ()
    ACCESSES.note(end_user_id=end_user, memory_ids=[hit.memory.id for hit in hits], at=now)
    return SearchResult(hits=hits, closest=closest, waiting=waiting)


def build_context(*, project_id: UUID, user_id: str, query: ContextQuery) -> RenderedBlock:
    """Render the memories of an end user within the token budget of the request.

    Raises ProviderError if the embedder fails.
    """
    ports = live()
    end_user, now = end_user_id(project_id=project_id, user_id=user_id), ports.clock.now()
    with tenant_scope(project_id=project_id, end_user_id=end_user):
        quotes = []
        if query.stakes is not Stakes.HIGH:  # where nothing is shown that is not verified
            waiting = waiting_messages(end_user_id=end_user, query=query.text, told_in=query.told_in)
            quotes = [WaitingQuote(content=each.content, said_at=each.said_at) for each in waiting]
        block = build_block(
            end_user_id=end_user,
            query=query,
            quotes=quotes,
            embedder=ports.embedder,
            count_tokens=count_tokens,
            policy=active_policy(project_id=project_id).retrieval,
            now=now,
        )
    ACCESSES.note(end_user_id=end_user, memory_ids=block.memory_ids, at=now)
    return block


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """A context block, its lines in order of their value, and those that the budget leaves out."""

    block: RenderedBlock
    lines: ArrangedLines


@dataclass(frozen=True, slots=True)
class Recall:
    """The memories that a search considered, and the block; None if it was not asked for."""

    search: SearchExplanation
    block: ExplainedBlock | None


def explain_recall(
    *,
    project_id: UUID,
    end_user_id: UUID,
    query: SearchQuery,
    block: ContextQuery | None = None,
    version: int | None = None,
) -> Recall:
    """Search and arrange a block under a configuration version, by default the active one, as requests of agents do.

    With a `block`, which tells of the present, the context block is explained, too. Raises NotFound for an unknown
    version, ProviderError if the embedder fails.
    """
    policy = policy_of_version(project_id=project_id, number=version).retrieval
    ports = live()
    now = ports.clock.now()
    with tenant_scope(project_id=project_id, end_user_id=end_user_id):
        explained = explain_search(
            end_user_id=end_user_id, query=query, embedder=ports.embedder, policy=policy, now=now
        )
        if block is None:
            return Recall(search=explained, block=None)
        known = known_user(end_user_id=end_user_id, query=block, embedder=ports.embedder, policy=policy, now=now)
    lines = arrange(known, token_budget=block.token_budget, count_tokens=count_tokens, now=now)
    told = ExplainedBlock(block=rendered(lines, count_tokens=count_tokens), lines=lines)
    return Recall(search=explained, block=told)
