"""One end user's memories and vectors as they are searched, whatever is asked: an entry a memory in every array."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.bm25 import Floats, Places, Terms
from apps.pipeline.halves import Halves, cosines, highest
from apps.pipeline.ports import Vector


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
    tongues: int  # a bit for each language that their words are stemmed in
    until: datetime | None  # when the first of them ceases to count by itself

    def __len__(self) -> int:
        return len(self.said_at)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Their vectors, in an order of their own."""

    places: Places  # of each memory's vector, -1 where it is still owed
    contents: Halves
    questions: Halves
    counts: Places  # questions of each vector

    def compared(self, asked: Vector) -> tuple[Floats, Floats]:
        """Return each memory's cosine, and that of the best of its questions; NaN where there is none."""
        if not len(self.contents):
            return np.full(len(self.places), np.nan), np.full(len(self.places), np.nan)
        best = highest(values=cosines(vectors=self.questions, asked=asked), counts=self.counts)
        content = cosines(vectors=self.contents, asked=asked)
        owed = self.places < 0
        return np.where(owed, np.nan, content[self.places]), np.where(owed, np.nan, best[self.places])
