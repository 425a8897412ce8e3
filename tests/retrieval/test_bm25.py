"""BM25 on hashed words agrees with the formula, computed document by document and term by term."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from apps.pipeline.retrieval.bm25 import Counted, Terms, Words

from apps.retrieval import bm25

CAT, DOG, TEA, UNKNOWN = 1, 2, 3, 99
DOCUMENTS = [[CAT, CAT, DOG], [], [DOG, TEA, TEA, TEA], [TEA], [CAT, DOG, TEA, 7, 8, 9]]


def terms(documents: Sequence[Sequence[int]]) -> Terms:
    flat = [term for document in documents for term in document]
    return Terms(
        hashes=np.array(flat, dtype=np.uint32), lengths=np.array([len(each) for each in documents], dtype=np.int64)
    )


def said(*query: int) -> Words:
    """Build a query of words with one term each."""
    return in_languages(*((place, term) for place, term in enumerate(query)))


def in_languages(*query: tuple[int, int]) -> Words:
    """Build a query of words, each with its terms in several languages."""
    places, found = np.array(query, dtype=np.int64).reshape(-1, 2).T
    return bm25.words_of(places=places, terms=found.astype(np.uint32))


def frequencies(counted: Counted) -> list[list[float]]:
    """Return the frequencies in every document."""
    every = np.zeros((len(counted.lengths), counted.frequencies.shape[1]))
    every[counted.documents] = counted.frequencies
    return every.tolist()


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
    counted = bm25.count(terms=terms(DOCUMENTS), query=said(*query))
    scores = bm25.score(counted=counted, saturation=k1, length_normalisation=b)
    assert scores == pytest.approx([by_hand(query, each, k1=k1, b=b) for each in DOCUMENTS])


def test_a_word_in_two_languages_is_one_word() -> None:
    """HUND and CHIEN are the terms of the second word in two languages: it is as rare as both, and either is found."""
    cat, hund, chien = 1, 2, 3
    documents = terms([[cat, hund], [hund], [chien], [cat]])
    both = bm25.count(terms=documents, query=in_languages((1, cat), (2, chien), (2, hund)))
    one = bm25.count(terms=terms([[cat, hund], [hund], [hund], [cat]]), query=said(cat, hund))
    assert frequencies(both) == frequencies(one)


def test_two_words_that_share_a_term_count_it_once() -> None:
    """ "Universe" and "university" have one stem in English and two without a language."""
    stem, universe, university = 1, 2, 3
    query = in_languages((1, stem), (1, universe), (2, stem), (2, university))
    counted = bm25.count(terms=terms([[stem], [universe], [university]]), query=query)
    assert frequencies(counted) == [[1, 0], [1, 0], [0, 1]]


def test_a_query_is_looked_at_up_to_its_limit() -> None:
    counted = bm25.count(terms=terms(DOCUMENTS), query=said(*range(bm25.MAX_QUERY_WORDS + 50)))
    assert np.shape(frequencies(counted)) == (len(DOCUMENTS), bm25.MAX_QUERY_WORDS)


def test_no_documents_have_no_scores() -> None:
    counted = bm25.count(terms=terms([]), query=said(CAT))
    assert len(bm25.score(counted=counted, saturation=0.9, length_normalisation=0.75)) == 0


def test_a_blend_counts_context_words_at_their_weight() -> None:
    content = bm25.count(terms=terms([[CAT], [DOG]]), query=said(CAT, DOG))
    context = bm25.count(terms=terms([[CAT, DOG], []]), query=said(CAT, DOG))
    blended = bm25.blend(content=content, context=context, weight=0.5)
    assert frequencies(blended) == [[1.5, 0.5], [0.0, 1.0]]
    assert blended.lengths.tolist() == [2.0, 1.0]


def test_gathered_documents_count_as_one() -> None:
    counted = bm25.count(terms=terms(DOCUMENTS), query=said(CAT, TEA))
    gathered = bm25.gather(counted=counted, groups=np.array([0, 0, 1, 1, 0]), number=2)
    joined = [DOCUMENTS[0] + DOCUMENTS[1] + DOCUMENTS[4], DOCUMENTS[2] + DOCUMENTS[3]]
    together = bm25.count(terms=terms(joined), query=said(CAT, TEA))
    assert frequencies(gathered) == frequencies(together)
    assert gathered.lengths.tolist() == together.lengths.tolist()


def test_gathering_for_a_query_without_terms() -> None:
    empty = bm25.count(terms=terms([[CAT], [DOG]]), query=())
    gathered = bm25.gather(counted=empty, groups=np.array([0, 0]), number=1)
    assert (frequencies(gathered), gathered.lengths.tolist()) == ([[]], [2.0])
