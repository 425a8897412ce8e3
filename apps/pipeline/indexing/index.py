"""Stage 7, index: the vectors of a memory, of its content and of the questions that it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder, Vector
from apps.pipeline.indexing.questions import questions_for


@dataclass(frozen=True, slots=True)
class Indexable:
    """What stage 7 has to know of a memory."""

    id: UUID
    type: MemoryType
    content: str
    subject: str = ""  # the subject's name
    predicate: str = ""
    object_text: str = ""


@dataclass(frozen=True, slots=True)
class VectorEntry:
    """The vectors of one memory; each question has its own, in the same order."""

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
    """Return the questions that a memory answers."""
    return questions_for(
        type=memory.type,
        subject=memory.subject,
        predicate=memory.predicate,
        object_text=memory.object_text,
        content=memory.content,
        count=policy.questions,
    )
