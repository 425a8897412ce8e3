"""The vectors of a memory come back as they were stored."""

from math import nan

import pytest
from apps.memories.search.query import QueryTerms
from apps.memories.search.search_columns import read_columns

from apps.memories.models import MemoryVector
from apps.pipeline.core.policy import RetrievalPolicy
from apps.providers.fake import HashingEmbedder
from apps.retrieval.query import SearchQuery, search_scope
from apps.retrieval.query_text import names_in
from tests.memories.conftest import NOW


@pytest.mark.parametrize("given", [[], [[0.5, -0.25]], [[0.5, -0.25], [1.0, 0.0]]])
def test_vectors_come_back(remember, given) -> None:
    memory = remember("Ana lives in Rome.", indexed=False)
    MemoryVector.objects.create(
        end_user_id=memory.end_user_id,
        memory=memory,
        embedder="two",
        dimension=2,
        embedding=[0.0, 1.0],
        questions=[f"question {place}" for place in range(len(given))],
        question_embeddings=given,
    )
    stored = MemoryVector.objects.get(memory=memory)
    assert stored.question_embeddings == given
    assert stored.embedding == [0.0, 1.0]


def test_a_memory_is_indexed_with_its_questions(remember) -> None:
    stored = MemoryVector.objects.get(memory=remember("Ana lives in Rome.", subject="Ana", predicate="lives_in"))
    assert stored.questions[0] == "Where does Ana live?"
    assert len(stored.question_embeddings) == len(stored.questions) == 3
    assert {len(each) for each in stored.question_embeddings} == {stored.dimension}


@pytest.mark.parametrize("dimension", [64, 800])  # short vectors lie in their row, long ones may not
@pytest.mark.parametrize("count", [0, 1, 4, 5, 9])
def test_the_best_of_all_questions_speaks_for_a_memory(remember, ana, dimension, count) -> None:
    embedder = HashingEmbedder(dimension=dimension)
    questions = [*(f"unlike {place}" for place in range(count - 1)), "Where is home?"][:count]
    memory = remember("Ana lives in Rome.", indexed=False)
    MemoryVector.objects.create(
        end_user_id=ana,
        memory=memory,
        embedder=embedder.name,
        dimension=dimension,
        embedding=embedder.embed([memory.content])[0],
        questions=questions,
        question_embeddings=embedder.embed(questions),
    )
    asked = QueryTerms(
        text="", names=names_in(""), embedder=embedder.name, vector=embedder.embed(["Where is home?"])[0]
    )
    scope = search_scope(SearchQuery(), policy=RetrievalPolicy(), now=NOW)
    best = read_columns(end_user_id=ana, asked=asked, scope=scope).memories.question_cosine
    assert best.tolist() == pytest.approx([1.0] if count else [nan], abs=0.01, nan_ok=True)
