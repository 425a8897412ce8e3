"""Explain what a search and the context block would find for a query; nothing is written, not even accesses."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.memories.live_ports import live
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.projects.services import policy_of_version
from apps.providers.wordllama import count_tokens
from apps.retrieval.block import ArrangedLines, RenderedBlock, arrange, rendered
from apps.retrieval.context import ContextQuery, known_user
from apps.retrieval.explain import SearchExplanation, explain_search
from apps.retrieval.query import SearchQuery
from apps.tenants.scope import tenant_scope


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A search to explain; with a `block`, which tells of the present, the context block is explained, too."""

    project_id: UUID
    end_user_id: UUID
    query: SearchQuery
    block: ContextQuery | None = None
    version: int | None = None  # of the configuration; None: the active one


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


def explain_recall(*, request: RecallRequest) -> Recall:
    """Search and arrange a block under a configuration version, as requests of agents do.

    Raises NotFound for an unknown version, ProviderError if the embedder fails.
    """
    policy = policy_of_version(project_id=request.project_id, number=request.version).retrieval
    ports = live()
    now = ports.clock.now()
    with tenant_scope(project_id=request.project_id, end_user_id=request.end_user_id):
        explained = explain_search(
            end_user_id=request.end_user_id,
            query=request.query,
            embedder=ports.embedder,
            policy=policy,
            now=now,
        )
        block = _block(request.end_user_id, request.block, policy, ports.embedder, now) if request.block else None
    return Recall(search=explained, block=block)


def _block(
    end_user_id: UUID, query: ContextQuery, policy: RetrievalPolicy, embedder: Embedder, now: datetime
) -> ExplainedBlock:
    known = known_user(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now)
    lines = arrange(known, token_budget=query.token_budget, count_tokens=count_tokens, now=now)
    return ExplainedBlock(block=rendered(lines, count_tokens=count_tokens), lines=lines)
