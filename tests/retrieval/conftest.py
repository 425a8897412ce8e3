"""Memories to search: stored as the API stores them, indexed at once."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import UUID

import pytest

from apps.memories.models import Memory, MemoryLink
from apps.memories.services.indexing import write_vectors
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LinkKind, LinkStatus, MemoryType
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.policy import IndexPolicy, RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.indexing import index
from apps.providers.fake import HashingEmbedder
from apps.retrieval.query import SearchQuery
from apps.retrieval.search import SearchHit, ranked
from apps.tenants.models import Project

NOW = datetime(2030, 6, 1, tzinfo=UTC)


class Remember(Protocol):
    def __call__(self, content: str, **values: Any) -> Memory: ...


class SearchHits(Protocol):
    def __call__(self, text: str, **values: Any) -> tuple[SearchHit, ...]: ...


class Find(Protocol):
    def __call__(self, text: str, **values: Any) -> list[str]: ...


@pytest.fixture
def embedder() -> Embedder:
    return HashingEmbedder()


@pytest.fixture
def ana(project: Project) -> UUID:
    return end_user_id(project_id=project.id, user_id="ana")


@pytest.fixture
def remember(project: Project, embedder: Embedder) -> Remember:
    """Store one memory of a user and index it, unless `indexed` is false."""

    def make(content: str, *, user_id: str = "ana", indexed: bool = True, subject: str = "", **values: Any) -> Memory:
        new = new_memory(content, subject=subject, **values)
        stored = store(request=StoreRequest(project.id, None, user_id, (new,)))
        memory = Memory.objects.select_related("subject").get(id=stored[0])
        if indexed:
            add_vectors([memory], embedder)
        return memory

    return make


@pytest.fixture
def search_hits(ana: UUID, embedder: Embedder) -> SearchHits:
    def run(text: str, **values: Any) -> tuple[SearchHit, ...]:
        user = values.pop("end_user_id", ana)
        query = SearchQuery(text=text, **{"min_score": 0.0, **values})
        with ranked(end_user_id=user, query=query, embedder=embedder, policy=RetrievalPolicy(), now=NOW) as ranking:
            return ranking.results()

    return run


@pytest.fixture
def find(search_hits: SearchHits) -> Find:
    """Return the contents of the hits, best first."""
    return lambda text, **values: [hit.memory.content for hit in search_hits(text, **values)]


def new_memory(content: str, *, subject: str = "", **values: Any) -> NewMemory:
    """Return a fact that is stored as the API stores it."""
    values = {"type": MemoryType.FACT, "subject": Mention(subject), "said_at": NOW, **values}
    return NewMemory(content=content, **values | {"object": _object(values.get("object", ""))})


def _object(value: str | Mention) -> ObjectValue:
    return ObjectValue(entity=value) if isinstance(value, Mention) else ObjectValue(literal=value or None)


def add_vectors(memories: Sequence[Memory], embedder: Embedder) -> None:
    indexable = [
        index.Indexable(
            id=each.id,
            type=MemoryType(each.type),
            content=each.content,
            subject=each.subject.name if each.subject else "",
            predicate=each.predicate,
            object_text=each.object_text,
        )
        for each in memories
    ]
    entries = index.run(indexable, embedder=embedder, policy=IndexPolicy())
    write_vectors(end_user_id=memories[0].end_user_id, entries=entries, embedder=embedder)


def contradict(
    older: Memory, newer: Memory, *, status: LinkStatus = LinkStatus.OPEN, kind: LinkKind = LinkKind.CONTRADICTS
) -> None:
    """Link two memories, as a contradiction by default."""
    MemoryLink.objects.create(
        end_user_id=older.end_user_id,
        project_id=older.project_id,
        from_memory=newer,
        to_memory=older,
        kind=kind,
        status=status,
    )
