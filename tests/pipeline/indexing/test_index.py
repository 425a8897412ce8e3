"""Stage 7 computes the vectors of memories, of content and questions, in one call of the embedder."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Vector
from apps.pipeline.indexing import index
from apps.providers.fake import HashingEmbedder

HOME = index.Indexable(
    id=UUID(int=1), type=MemoryType.FACT, content="User lives in Rome.", subject="User", predicate="lives_in"
)
PET = index.Indexable(id=UUID(int=2), type=MemoryType.FACT, content="User has a dog called Rex.", subject="User")


class CountingEmbedder(HashingEmbedder):
    calls = 0

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        return super().embed(texts)


def test_a_memory_has_its_content_and_its_questions() -> None:
    entries = index.run([HOME, PET], embedder=HashingEmbedder(), policy=IndexPolicy(questions=3))
    assert [entry.memory_id for entry in entries] == [HOME.id, PET.id]
    assert [len(entry.questions) for entry in entries] == [3, 3]
    assert entries[0].questions[0] == "Where does User live?"


def test_each_vector_is_that_of_its_text() -> None:
    embedder = HashingEmbedder()
    for memory, entry in zip((HOME, PET), index.run([HOME, PET], embedder=embedder, policy=IndexPolicy()), strict=True):
        assert entry.vector == embedder.embed([memory.content])[0]
        assert list(entry.question_vectors) == embedder.embed(entry.questions)


@pytest.mark.parametrize(
    ("question", "embedded"),
    [
        ("What does Ana Reis do?", "What does do?"),
        ("Who is Ana's brother?", "Who is brother?"),
        ("Was macht Anas Hund?", "Was macht Hund?"),
        ("Who is Anabel?", "Who is Anabel?"),
    ],
)
def test_the_vector_of_a_question_is_that_of_the_question_without_the_end_users_name(
    question: str, embedded: str
) -> None:
    memory = replace(HOME, model_questions=(question,), user="Ana Reis")
    (entry,) = index.run([memory], embedder=HashingEmbedder(), policy=IndexPolicy())
    assert entry.questions == (question,)
    assert list(entry.question_vectors) == HashingEmbedder().embed([embedded])


def test_many_memories_cost_one_call() -> None:
    embedder = CountingEmbedder()
    index.run([HOME, PET], embedder=embedder, policy=IndexPolicy())
    assert embedder.calls == 1
