"""Build the context block that an agent puts into its prompt."""

from dataclasses import dataclass
from uuid import UUID

from apps.memories.live_ports import live
from apps.memories.services.count_accesses import ACCESSES
from apps.memories.services.waiting_messages import waiting_messages
from apps.pipeline.core.enums import Stakes
from apps.pipeline.core.identifiers import end_user_id
from apps.providers.wordllama import count_tokens
from apps.retrieval.block import RenderedBlock, WaitingQuote
from apps.retrieval.context import ContextQuery, build_block
from apps.tenants.scope import tenant_scope
from apps.traces.policies import active_policy


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A request for a context block; `user_id` is the caller's identifier."""

    project_id: UUID
    user_id: str
    query: ContextQuery


@dataclass(frozen=True, slots=True)
class ContextResult:
    """The block; its text is empty if nothing is known."""

    block: RenderedBlock


def build_context(*, request: ContextRequest) -> ContextResult:
    """Render the memories of an end user within the token budget of the request.

    Raises ProviderError if the embedder fails.
    """
    ports = live()
    end_user, now = end_user_id(project_id=request.project_id, user_id=request.user_id), ports.clock.now()
    with tenant_scope(project_id=request.project_id, end_user_id=end_user):
        block = build_block(
            end_user_id=end_user,
            query=request.query,
            quotes=_quotes(end_user, request.query),
            embedder=ports.embedder,
            count_tokens=count_tokens,
            policy=active_policy(project_id=request.project_id).retrieval,
            now=now,
        )
    ACCESSES.note(end_user_id=end_user, memory_ids=block.memory_ids, at=now)
    return ContextResult(block=block)


def _quotes(end_user: UUID, query: ContextQuery) -> list[WaitingQuote]:
    """Return what waits to be processed; where much is at stake, nothing that is not verified is shown."""
    if query.stakes is Stakes.HIGH:
        return []
    waiting = waiting_messages(end_user_id=end_user, query=query.text, told_in=query.told_in)
    return [WaitingQuote(content=each.content, said_at=each.said_at) for each in waiting]
