"""Of labelled queries the related ones find their memory, and the unrelated ones nothing.

related_queries.jsonl has two queries for each of 50 memories of the recorded conversations: one in the words of the
memory, one in others. Each searches all that was recorded of its conversation, with the questions that a model wrote
or with those of the templates.
unrelated_queries.jsonl has 100 queries in twelve languages that no memory answers.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from apps.memories.services.indexing import write_vectors
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing import index
from apps.providers.wordllama import WordLlamaEmbedder
from apps.tenants.models import Project
from tests.retrieval.conftest import Remember, SearchHits, new_memory

HERE = Path(__file__).parent
RECORDED = HERE.parents[1] / "benchmarks" / "recorded"


@pytest.fixture
def embedder() -> Embedder:
    return WordLlamaEmbedder()


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _recorded(conversation: str) -> list[tuple[dict[str, Any], tuple[str, ...]]]:
    """Return the statements that a model extracted from a conversation, each with the questions that it wrote."""
    answers = _lines(RECORDED / f"{conversation}.jsonl")
    extracted = [each["answer"]["memories"] for each in answers if each["purpose"] == "extract"]
    statements = {each["content"]: each for memories in extracted for each in memories}
    asked = {each["asked"][0]: tuple(each["answer"]) for each in answers if each["purpose"] == "index_questions"}
    return [(statements[content], asked[content]) for content in statements if content in asked]


def _tell(conversation: str, *, project: Project) -> list[index.Indexable]:
    """Store the statements of a conversation; return them to be indexed with the questions of the model."""
    recorded = _recorded(conversation)
    memories = tuple(
        new_memory(
            statement["content"],
            type=MemoryType(statement.get("type", "fact")),
            subject="User",
            predicate=statement.get("predicate", "states"),
            object=statement.get("value", ""),
            evidence=statement["evidence"],
        )
        for statement, _ in recorded
    )
    stored = store(request=StoreRequest(project.id, None, conversation, memories))
    indexable = {
        memory_id: index.Indexable(
            id=memory_id,
            type=new.type,
            content=new.content,
            subject="User",
            predicate=new.predicate,
            object_text=new.object.literal or "",
            model_questions=questions,
        )
        for memory_id, new, (_, questions) in zip(stored, memories, recorded, strict=True)
    }
    return list(indexable.values())


def _missed(labelled: list[dict[str, Any]], user: UUID, search_hits: SearchHits) -> Iterator[tuple[Any, ...]]:
    """Yield the queries whose memory is not among the first three, with what is found instead."""
    for each in labelled:
        for query in (each["same_words"], each["other_words"]):
            hits = search_hits(query, end_user_id=user, limit=3, min_score=None)
            if not any(each["right"] in hit.memory.content for hit in hits):
                yield query, each["right"], [(hit.memory.content, hit.score) for hit in hits]


def test_related_queries_find_their_memory_among_the_first_three(
    project: Project, embedder: Embedder, search_hits: SearchHits
) -> None:
    """First with questions from templates, then with those of a model, which take their place."""
    by_conversation, missed = defaultdict(list), defaultdict(list)
    for each in _lines(HERE / "related_queries.jsonl"):
        by_conversation[each["conversation"]].append(each)
    for name, labelled in by_conversation.items():
        user = end_user_id(project_id=project.id, user_id=name)
        with_model = _tell(name, project=project)
        templates = [replace(each, model_questions=()) for each in with_model]
        for questions_of, indexable in (("templates", templates), ("model", with_model)):
            entries = index.run(indexable, embedder=embedder, policy=IndexPolicy())
            write_vectors(end_user_id=user, entries=entries, embedder=embedder)
            missed[questions_of] += _missed(labelled, user, search_hits)
    assert len(missed["templates"]) <= 30, missed["templates"]
    assert len(missed["model"]) <= 10, missed["model"]


def test_unrelated_queries_find_nothing(project: Project, remember: Remember, search_hits: SearchHits) -> None:
    found = []
    for each in _lines(HERE / "unrelated_queries.jsonl"):
        for content in each["memories"]:
            remember(content, user_id=each["language"])
        user = end_user_id(project_id=project.id, user_id=each["language"])
        for query in each["queries"]:
            hits = search_hits(query, end_user_id=user, min_score=None)
            found += [(query, hit.memory.content, hit.score) for hit in hits]
    assert len(found) <= 2, found
