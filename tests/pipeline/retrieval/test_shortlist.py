"""What is compared exactly: what words or estimates speak for, and the neighbours of verbatim texts."""

import numpy as np
import pytest

from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.retrieval import shortlist as module
from apps.pipeline.retrieval.bm25 import Terms
from apps.pipeline.retrieval.ranking import Memories, WordMatches, sessions_of
from apps.pipeline.retrieval.shortlist import shortlist

NUMBER = 20


@pytest.fixture(autouse=True)
def _few(monkeypatch) -> None:
    monkeypatch.setattr(module, "SHORTLISTED", 2)
    monkeypatch.setattr(module, "LIKELY", 1)


def chosen(*, words: int, content: int, question: int, are_statements: bool = True) -> list[int]:
    """Return the choice among memories of which one each stands out by words, content and question."""
    zeros = np.zeros(NUMBER)
    ids = np.stack((np.arange(NUMBER), np.arange(NUMBER)), axis=1).astype(np.uint64)
    sessions = sessions_of(ids=ids, sessions=np.zeros(NUMBER, dtype=np.uint64), said_at=np.arange(NUMBER, dtype=float))
    nothing = Terms(hashes=np.zeros(0, dtype=np.uint32), lengths=np.zeros(NUMBER, dtype=np.int64))
    memories = Memories(
        ids=ids,
        terms=nothing,
        context_terms=nothing,
        sessions=sessions,
        said_at=np.arange(NUMBER, dtype=float),
        content_cosine=_standing_out(content),
        question_cosine=_standing_out(question),
        named=zeros > 0,
        are_statements=np.full(NUMBER, are_statements),
        of_others=zeros > 0,
        lacks_answer=zeros > 0,
        importance=zeros,
        confidence=zeros,
    )
    matches = WordMatches(scores=_standing_out(words), coverage=_standing_out(words), in_sessions=np.zeros(1))
    return shortlist(memories=memories, words=matches, policy=RetrievalPolicy()).tolist()


def _standing_out(place: int) -> np.ndarray:
    values = np.zeros(NUMBER)
    values[place] = 0.9
    return values


def test_each_kind_of_evidence_is_enough() -> None:
    assert set(chosen(words=3, content=9, question=15)) == {3, 9, 15}


def test_neighbours_of_verbatim_texts_are_compared_as_well() -> None:
    assert set(chosen(words=3, content=9, question=0, are_statements=False)) == {0, 1, 2, 3, 4, 8, 9, 10}


def test_few_memories_are_all_compared(monkeypatch) -> None:
    monkeypatch.setattr(module, "SHORTLISTED", NUMBER)
    assert chosen(words=3, content=9, question=15) == list(range(NUMBER))
