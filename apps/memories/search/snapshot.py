"""One end user's memories and vectors as arrays, independent of a query: one entry per memory in each array."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.ports import Vector
from apps.pipeline.retrieval.bm25 import Floats, Places, Terms
from apps.pipeline.retrieval.float16 import Halves, cosines, highest
from apps.pipeline.retrieval.ranking import Sessions, sessions_of
from apps.pipeline.retrieval.signs import Signs, estimated_cosines

Cosines = tuple[Floats, Floats]  # of the content, and of the best question, per memory
Moments = NDArray[np.int64]  # microseconds since 2000, as in PostgreSQL; the highest number means "never"
_YEAR_2000 = datetime(2000, 1, 1, tzinfo=UTC)
SECONDS_TO_2000 = _YEAR_2000.timestamp()


def moment_of(time: datetime) -> int:
    """Convert a time to a number of Moments."""
    return (time - _YEAR_2000) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Rows:
    """The values of each memory that ranking needs, except for its vectors."""

    ids: NDArray[np.uint64]
    terms: Terms
    context_terms: Terms
    sessions: NDArray[np.uint64]
    said_at: Floats
    confidence: Floats
    importance: Floats
    subjects: NDArray[np.uint64]  # random half of the entity's id, 0 if there is none
    objects: NDArray[np.int64]  # hash of the entity's id, 0 if the object is not an entity
    have_subject: NDArray[np.bool_]  # whether the memory has a subject, and a predicate or a quote
    language_bits: NDArray[np.int64]  # one bit per language of its stemmed words
    answer_types: Places  # AnswerType bits
    ends_at: Moments  # when the memory expires or stops being valid
    event_at: NDArray[np.int64]  # Unix time in seconds, 0 where there is none
    are_events: NDArray[np.bool_]
    are_rules: NDArray[np.bool_]  # constraints and conventions

    @property
    def tongues(self) -> int:
        """Return the language bits of all memories combined."""
        return int(np.bitwise_or.reduce(self.language_bits))

    def in_sessions(self) -> Sessions:
        """Return the session of each memory and its order within."""
        return sessions_of(ids=self.ids, sessions=self.sessions, said_at=self.said_at)

    def __len__(self) -> int:
        return len(self.said_at)


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """Vectors in one contiguous array."""

    contents: Halves
    questions: Halves
    counts: Places  # number of questions per memory

    def compared(self, asked: Vector) -> Cosines:
        """Return the cosine of each content, and that of its best question."""
        best = highest(values=cosines(vectors=self.questions, asked=asked), counts=self.counts)
        return cosines(vectors=self.contents, asked=asked), best

    def __len__(self) -> int:
        return len(self.contents)


@dataclass(frozen=True, slots=True, eq=False)
class SignBlock:
    """The signs of vectors in one contiguous array, where there are too many to hold the vectors."""

    contents: Signs
    questions: Signs
    counts: Places  # number of questions per memory

    def compared(self, asked: Vector) -> Cosines:
        """Return the estimated cosine of each content, and that of its best question."""
        best = highest(values=estimated_cosines(vectors=self.questions, asked=asked), counts=self.counts)
        return estimated_cosines(vectors=self.contents, asked=asked), best

    def __len__(self) -> int:
        return len(self.contents)


Block = VectorBlock | SignBlock


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of memories, in an order of their own; some may belong to memories that were removed."""

    places: Places  # index of each memory's vector over all blocks, -1 where it has none yet
    blocks: tuple[Block, ...]  # of one type: the first read, and the vectors that were added later

    def compared(self, asked: Vector, *, before: Mapping[Block, Cosines]) -> dict[Block, Cosines]:
        """Return the cosines of each block; those of blocks in `before` are reused."""
        return {block: before[block] if block in before else block.compared(asked) for block in self.blocks}

    @property
    def are_signs(self) -> bool:
        """Return True if only the signs are known."""
        return isinstance(self.blocks[0], SignBlock)

    def of_memories(self, compared: Mapping[Block, Cosines]) -> Cosines:
        """Return each memory's content cosine and best question cosine; NaN if it has no vector."""
        per_block = [compared[block] for block in self.blocks]
        # The NaN at the end is what the index -1 selects.
        content = np.concatenate([*(content for content, _ in per_block), [np.nan]])
        best = np.concatenate([*(best for _, best in per_block), [np.nan]])
        return content[self.places], best[self.places]
