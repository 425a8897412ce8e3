"""Which of many memories are worth comparing exactly, where their cosines are estimates."""

import numpy as np

from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval.bm25 import Floats, Places
from apps.pipeline.retrieval.ranking import Memories, WordMatches, over_maximum

SHORTLISTED = 400
LIKELY = 100  # by each kind of vector alone, so that the highest cosines, by which all are scaled, are exact


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
    return np.flatnonzero(marked)


def _highest(values: Floats, limit: int) -> Places:
    if len(values) <= limit:
        return np.arange(len(values))
    return np.argpartition(values, -limit)[-limit:]
