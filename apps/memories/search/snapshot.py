"""One end user's memories and vectors as they are searched, whatever is asked: an entry a memory in every array."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.ports import Vector
from apps.pipeline.retrieval.bm25 import Floats, Places, Terms
from apps.pipeline.retrieval.float16 import Halves, cosines, highest
from apps.pipeline.retrieval.ranking import Sessions, sessions_of

Cosines = tuple[Floats, Floats]  # of contents, and of the best of the questions
Moments = NDArray[np.int64]  # microseconds since 2000, as PostgreSQL counts; the highest number is "never"
_YEAR_2000 = datetime(2000, 1, 1, tzinfo=UTC)
SECONDS_TO_2000 = _YEAR_2000.timestamp()


def moment_of(time: datetime) -> int:
    """Return a time as the number that it is among Moments."""
    return (time - _YEAR_2000) // timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Rows:
    """What is known of each memory."""

    ids: NDArray[np.uint64]
    terms: Terms
    context_terms: Terms
    sessions: NDArray[np.uint64]
    said_at: Floats
    confidence: Floats
    importance: Floats
    subjects: NDArray[np.uint64]  # the random half of the identifier, 0 where there is none
    objects: NDArray[np.int64]  # the identifier hashed, 0 where the object is no entity
    are_of_someone: NDArray[np.bool_]
    their_tongues: NDArray[np.int64]  # a bit each, for the language that the words are stemmed in
    ends_at: Moments  # when each ceases to count by itself

    @property
    def tongues(self) -> int:
        """Return the bits of all languages that their words are stemmed in."""
        return int(np.bitwise_or.reduce(self.their_tongues))

    def in_sessions(self) -> Sessions:
        """Return which of them were said together, and in what order."""
        return sessions_of(ids=self.ids, sessions=self.sessions, said_at=self.said_at)

    def __len__(self) -> int:
        return len(self.said_at)


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """Vectors that lie together."""

    contents: Halves
    questions: Halves
    counts: Places  # questions of each

    def compared(self, asked: Vector) -> Cosines:
        """Return the cosine of each, and that of the best of its questions."""
        best = highest(values=cosines(vectors=self.questions, asked=asked), counts=self.counts)
        return cosines(vectors=self.contents, asked=asked), best

    def __len__(self) -> int:
        return len(self.contents)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Their vectors, in an order of their own; not all of them need be somebody's any more."""

    places: Places  # of each memory's vector among those of all blocks, -1 where it is still owed
    blocks: tuple[VectorBlock, ...]  # those read at once, and those that have come since

    def compared(self, asked: Vector, *, before: Mapping[VectorBlock, Cosines]) -> dict[VectorBlock, Cosines]:
        """Return the cosines of each block; those that are known from before are not computed again."""
        return {block: before[block] if block in before else block.compared(asked) for block in self.blocks}

    def of_memories(self, compared: Mapping[VectorBlock, Cosines]) -> Cosines:
        """Return each memory's cosine, and that of the best of its questions; NaN where there is none."""
        lots = [compared[block] for block in self.blocks]
        # Where -1 points to, too.
        content = np.concatenate([*(content for content, _ in lots), [np.nan]])
        best = np.concatenate([*(best for _, best in lots), [np.nan]])
        return content[self.places], best[self.places]
