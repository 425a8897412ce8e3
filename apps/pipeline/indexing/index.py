"""Stage 7, index: the vectors of a memory, of its content and of other texts by which it is looked for.

These are questions that it answers and, where the end user speaks another language than English, in which statements
are written, the quote in that language.
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
    """What stage 7 has to know of a memory."""

    id: UUID
    type: MemoryType
    content: str
    subject: str = ""  # the subject's name
    predicate: str = ""
    object_text: str = ""
    foreign_quote: str = ""  # the quote, where it is in another language than the content
    model_questions: tuple[str, ...] = ()  # those that a model has written, instead of those of the templates


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """The vectors of one memory; `questions` are all texts beside the content, with their vectors in the same order."""

    memory_id: UUID
    vector: Vector
    questions: tuple[str, ...] = ()
    question_vectors: tuple[Vector, ...] = ()


def run(memories: Sequence[Indexable], *, embedder: Embedder, policy: IndexPolicy) -> tuple[VectorEntry, ...]:
    """Embed every text of the memories in one call; equal input gives equal entries.

    Raises whatever the embedder raises; nothing is half done then.
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
