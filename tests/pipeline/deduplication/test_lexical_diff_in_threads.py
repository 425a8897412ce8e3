"""Comparing statements in several threads gives the same results as in one."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from snowballstemmer.english_stemmer import EnglishStemmer

from apps.pipeline.deduplication import lexical_diff

WORDS = "nationality relational hopefulness electricity formalities conditional vacancies triplicate".split()


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Let threads switch a thousand times as often as usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 1_000)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("hasty_threads")
def test_stems_are_the_same_in_every_thread() -> None:
    words = [f"{word[:4]}{number:03}{word[4:]}" for number in range(100) for word in WORDS]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(stem_of, words))
    assert together == [EnglishStemmer().stemWord(word) for word in words]


def stem_of(word: str) -> str:
    (stem,) = lexical_diff.stems(word)
    return stem
