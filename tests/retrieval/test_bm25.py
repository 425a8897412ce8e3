"""BM25 on hashed words agrees with the formula, computed document by document and term by term."""

import math
import struct
from collections.abc import Sequence

import numpy as np
import pytest

from apps.retrieval import bm25
from apps.retrieval.bm25 import Words

CAT, DOG, TEA, UNKNOWN = 1, 2, 3, 99
DOCUMENTS = [[CAT, CAT, DOG], [], [DOG, TEA, TEA, TEA], [TEA], [CAT, DOG, TEA, 7, 8, 9]]


def packed(documents: Sequence[Sequence[int]]) -> list[bytes]:
    return [struct.pack(f">{len(each)}I", *each) for each in documents]


def said(*query: int) -> Words:
    """Build a query of words with one term each."""
    return in_languages(*enumerate(query))


def in_languages(*query: tuple[int, int]) -> Words:
    """Build a query of words, each with its terms in several languages."""
    return bm25.query_words(b"".join(struct.pack(">iI", *each) for each in query))


def by_hand(query: Sequence[int], document: Sequence[int], *, k1: float, b: float) -> float:
    average = sum(map(len, DOCUMENTS)) / len(DOCUMENTS)
    total = 0.0
    for term in set(query):
        containing = sum(term in each for each in DOCUMENTS)
        idf = math.log(1 + (len(DOCUMENTS) - containing + 0.5) / (containing + 0.5))
        often = document.count(term)
        if not often:
            continue
        total += idf * often * (k1 + 1) / (often + k1 * (1 - b + b * len(document) / average))
    return total


@pytest.mark.parametrize("query", [(CAT,), (CAT, TEA), (DOG, DOG, CAT), (UNKNOWN,), (UNKNOWN, TEA), ()])
@pytest.mark.parametrize(("k1", "b"), [(0.9, 0.75), (1.2, 0.0), (2.0, 1.0)])
def test_scores_are_those_of_the_formula(query, k1, b) -> None:
    shares = bm25.word_shares(*bm25.count_words(packed(DOCUMENTS), said(*query)), saturation=k1, length_normalisation=b)
    wanted = [by_hand(query, each, k1=k1, b=b) for each in DOCUMENTS]
    assert bm25.score(shares, saturation=k1) == pytest.approx(wanted)


def test_a_word_in_two_languages_is_one_word() -> None:
    """HUND and CHIEN are the terms of the second word in two languages: it is as rare as both, and either is found."""
    cat, hund, chien = 1, 2, 3
    documents = packed([[cat, hund], [hund], [chien], [cat]])
    both, _ = bm25.count_words(documents, in_languages((1, cat), (2, chien), (2, hund)))
    one, _ = bm25.count_words(packed([[cat, hund], [hund], [hund], [cat]]), said(cat, hund))
    assert both.tolist() == one.tolist()


def test_two_words_that_share_a_term_count_it_once() -> None:
    """ "Universe" and "university" have one stem in English and two without a language."""
    stem, universe, university = 1, 2, 3
    query = in_languages((1, stem), (1, universe), (2, stem), (2, university))
    counted, _ = bm25.count_words(packed([[stem], [universe], [university]]), query)
    assert counted.tolist() == [[1, 0], [1, 0], [0, 1]]


def test_a_query_is_looked_at_up_to_its_limit() -> None:
    counted, _ = bm25.count_words(packed(DOCUMENTS), said(*range(bm25.MAX_QUERY_WORDS + 50)))
    assert counted.shape == (len(DOCUMENTS), bm25.MAX_QUERY_WORDS)


def test_no_documents_have_no_scores() -> None:
    shares = bm25.word_shares(*bm25.count_words([], said(CAT)), saturation=0.9, length_normalisation=0.75)
    assert len(bm25.score(shares, saturation=0.9)) == 0
    assert len(bm25.coverage(shares, saturation=0.9)) == 0


def test_gathered_documents_count_as_one() -> None:
    counted = bm25.count_words(packed(DOCUMENTS), said(CAT, TEA))
    gathered, lengths = bm25.gather(*counted, np.array([0, 0, 1, 1, 0]))
    joined = [DOCUMENTS[0] + DOCUMENTS[1] + DOCUMENTS[4], DOCUMENTS[2] + DOCUMENTS[3]]
    together, together_lengths = bm25.count_words(packed(joined), said(CAT, TEA))
    assert gathered.tolist() == together.tolist()
    assert lengths.tolist() == together_lengths.tolist()
