"""BM25 over documents whose words are 4-byte hashes, as the database stores them.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf of Lucene,
ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.policy import RetrievalPolicy

Floats = NDArray[np.float64]
Places = NDArray[np.int64]
Words = tuple[NDArray[np.uint32], ...]  # of a query: for each word its terms in all languages

MAX_QUERY_WORDS = 64
BACKGROUND = 100  # imaginary documents, so that the rarity of words in a few documents is not overestimated
_QUERY_TERM = np.dtype([("place", ">i4"), ("term", ">u4")])


def query_words(packed: bytes) -> Words:
    """Group the terms of a query by the position of their word; a repeated term belongs to its first word.

    So no term is counted twice, and a word is as rare as all its terms together.
    """
    words: dict[int, list[int]] = {}
    seen: set[int] = set()
    for place, term in sorted(np.frombuffer(packed, dtype=_QUERY_TERM).tolist()):
        if term not in seen:
            seen.add(term)
            words.setdefault(place, []).append(term)
    return tuple(np.array(terms, dtype=np.uint32) for terms in words.values())[:MAX_QUERY_WORDS]


def count_words(documents: Sequence[bytes], query: Words) -> tuple[Floats, Floats]:
    """Return how often each document (row) has each word of a query (column), and the lengths of the documents."""
    lengths: Places = np.array([len(each) // 4 for each in documents], dtype=np.int64)
    counted: Floats = np.zeros((len(documents), len(query)))
    hashes = np.frombuffer(b"".join(documents), dtype=">u4").astype(np.uint32)
    for column, forms in enumerate(query):
        found = np.concatenate([np.flatnonzero(hashes == form) for form in forms])
        owners = np.searchsorted(lengths.cumsum(), found, side="right")
        counted[:, column] = np.bincount(owners, minlength=len(documents))
    return counted, lengths.astype(np.float64)


def gather(counted: Floats, lengths: Floats, groups: Places) -> tuple[Floats, Floats]:
    """Join documents of the same group to larger ones; `groups` has numbers from 0."""
    number = int(groups.max(initial=-1)) + 1
    joined = np.zeros((number, counted.shape[1]))
    np.add.at(joined, groups, counted)
    joined_lengths: Floats = np.bincount(groups, weights=lengths, minlength=number).astype(np.float64)
    return joined, joined_lengths


def word_shares(counted: Floats, lengths: Floats, policy: RetrievalPolicy) -> Floats:
    """Return the factor of BM25 that depends on the document, from 0 to 1, for each document and word."""
    relative = lengths / max(lengths.mean(), 1e-9) if len(lengths) else lengths
    share = policy.length_normalisation
    damping = policy.saturation * (1 - share + share * relative)[:, None]
    shares: Floats = np.divide(counted, counted + damping, out=np.zeros_like(counted), where=counted > 0)
    return shares


def score(shares: Floats, *, saturation: float) -> Floats:
    """Return one score per document, 0 if it has no word of the query."""
    containing = (shares > 0).sum(axis=0)
    idf = np.log(1 + (len(shares) - containing + 0.5) / (containing + 0.5))
    scores: Floats = (idf * shares * (saturation + 1)).sum(axis=1)
    return scores


def coverage(shares: Floats, *, saturation: float) -> Floats:
    """Return the share of the query's idf mass that each document covers, 0 to 1: comparable between queries.

    Words that are in no document count as well, so that one word of ten is a tenth. A few documents say little about
    the rarity of a word, so a word that is not in all of them is counted as if BACKGROUND others lacked it.
    """
    number = len(shares)
    if not shares.size:
        return np.zeros(number)
    containing = (shares > 0).sum(axis=0)
    lacking = BACKGROUND * (1 - np.maximum(containing - 1, 0) / number)
    idf = np.log(1 + (number + lacking - containing + 0.5) / (containing + 0.5))
    covered: Floats = (idf * np.minimum(shares * (saturation + 1), 1.0)).sum(axis=1) / idf.sum()
    return covered
