"""Which of many memories are worth comparing exactly, where their cosines are estimates."""

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval.bm25 import Floats, Places
from apps.pipeline.retrieval.ranking import Memories, WordMatches, over_maximum

SHORTLISTED = 300
LIKELY = 60  # by each kind of vector alone, so that the highest cosines, by which all are scaled, are exact


def shortlist(*, memories: Memories, words: WordMatches, policy: RetrievalPolicy) -> Places:
    """Return the indexes of the memories that are likely to be the best; all, if there are few."""
    weights = policy.statement_weights
    content, questions = np.nan_to_num(memories.content_cosine), np.nan_to_num(memories.question_cosine)
    likely = (
        weights.words * over_maximum(words.scores)
        + weights.evidence * words.coverage
        + weights.meaning * content
        + weights.questions * questions
        + weights.named * memories.named
    )
    marked = np.zeros(len(memories), dtype=np.bool_)
    for values, limit in ((likely, SHORTLISTED), (content, LIKELY), (questions, LIKELY)):
        marked[_highest(values, limit)] = True
    return np.flatnonzero(marked if memories.are_statements.all() else _with_neighbours(marked, memories))


def _with_neighbours(marked: NDArray[np.bool_], memories: Memories) -> NDArray[np.bool_]:
    """Add the memories before and after those that are marked: they lend a share of their evidence."""
    order = memories.sessions.order
    in_order = marked[order]
    around = in_order.copy()
    around[1:] |= in_order[:-1]
    around[:-1] |= in_order[1:]
    result = np.zeros_like(marked)
    result[order] = around
    return result


def _highest(values: Floats, limit: int) -> Places:
    if len(values) <= limit:
        return np.arange(len(values))
    return np.argpartition(values, -limit)[-limit:]
