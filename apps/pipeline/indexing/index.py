"""Stage 7, index: the vectors of a memory's content and of other texts by which it can be found.

These are questions that it answers and, if the end user doesn't speak English, the quote in their language.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder, Vector
from apps.pipeline.indexing.questions import questions_for

MAX_QUOTE = 500  # characters


@dataclass(frozen=True, slots=True)
class Indexable:
    """The parts of a memory that stage 7 needs."""

    id: UUID
    type: MemoryType
    content: str
    subject: str = ""  # the subject's name
    predicate: str = ""
    object_text: str = ""
    foreign_quote: str = ""  # the quote, if it is in another language than the content
    model_questions: tuple[str, ...] = ()  # written by a model; replace those of the templates


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """The vectors of one memory; `questions` are all texts but the content, with their vectors in the same order."""

    memory_id: UUID
    vector: Vector
    questions: tuple[str, ...] = ()
    question_vectors: tuple[Vector, ...] = ()


def run(memories: Sequence[Indexable], *, embedder: Embedder, policy: IndexPolicy) -> tuple[VectorEntry, ...]:
    """Embed all texts of the memories in one call; equal input gives equal entries.

    Raises the embedder's errors; there are no partial results.
    """
    asked = [questions_of(memory, policy=policy) for memory in memories]
    texts = [text for memory, questions in zip(memories, asked, strict=True) for text in (memory.content, *questions)]
    vectors = iter(embedder.embed(texts))
    return tuple(
        VectorEntry(
            memory_id=memory.id,
            vector=next(vectors),
            questions=questions,
            question_vectors=tuple(next(vectors) for _ in questions),
        )
        for memory, questions in zip(memories, asked, strict=True)
    )


def questions_of(memory: Indexable, *, policy: IndexPolicy) -> tuple[str, ...]:
    """Return the questions that a memory answers, and its quote in another language."""
    questions = memory.model_questions or questions_for(
        type=memory.type,
        subject=memory.subject,
        predicate=memory.predicate,
        object_text=memory.object_text,
        content=memory.content,
        count=policy.questions,
    )
    return (*questions, memory.foreign_quote[:MAX_QUOTE]) if memory.foreign_quote else questions
