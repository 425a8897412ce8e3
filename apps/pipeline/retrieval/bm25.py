"""BM25 over documents whose words are hashes, with the exact frequencies and lengths of the given documents.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf of Lucene,
ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint32]
Places = NDArray[np.int64]
Words = tuple[Hashes, ...]  # of a query: for each word its terms in all languages

MAX_QUERY_WORDS = 64
BACKGROUND = 100  # imaginary documents, so that the rarity of words in a few documents is not overestimated


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of many documents in one array: those of the first document, then those of the second…"""

    hashes: Hashes
    lengths: Places  # number of words of each document


@dataclass(frozen=True, slots=True)
class Counted:
    """Frequencies of the query words (columns) in the documents (rows), and the lengths of the documents."""

    frequencies: Floats
    lengths: Floats


def words_of(*, places: Places, terms: Hashes) -> Words:
    """Group a query's terms by the position of their word; a repeated term belongs to its first word.

    So no term is counted twice, and a word is as rare as all its terms together.
    """
    by_place = np.argsort(places, kind="stable")
    different, first = np.unique(terms[by_place], return_index=True)
    owners = places[by_place][first]
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order])) + 1
    return tuple(np.split(different[order], starts)) if len(different) else ()


def count(*, terms: Terms, query: Words) -> Counted:
    """Count the query's words in every document; words beyond 64 are ignored."""
    wanted = query[:MAX_QUERY_WORDS]
    places, columns = _found(terms.hashes, wanted)
    owners = np.searchsorted(np.cumsum(terms.lengths), places, side="right")
    number = len(terms.lengths)
    frequencies = np.bincount(columns * number + owners, minlength=len(wanted) * number).astype(np.float64)
    lengths: Floats = terms.lengths.astype(np.float64)
    # Column-major order: all further computations go through the columns.
    return Counted(frequencies=frequencies.reshape(len(wanted), number).T, lengths=lengths)


def _found(hashes: Hashes, wanted: Words) -> tuple[Places, Places]:
    """Return the positions of query words and which word is at each; hashes are compared by their lower halves."""
    forms = np.concatenate(wanted) if wanted else np.zeros(0, dtype=np.uint32)
    columns = np.repeat(np.arange(len(wanted)), [len(each) for each in wanted])
    order = np.argsort(forms)
    may_be = np.zeros(1 << 16, dtype=np.bool_)
    may_be[forms.astype(np.uint16)] = True
    places = np.flatnonzero(may_be[hashes.astype(np.uint16)])
    at = np.searchsorted(forms[order], hashes[places])
    forms, columns = np.append(forms[order], 0), np.append(columns[order], 0)
    is_it = (forms[at] == hashes[places]) & (at < len(order))
    return places[is_it], columns[at[is_it]]


def blend(*, content: Counted, context: Counted, weight: float) -> Counted:
    """Add the words of the context, each with `weight` relative to a word of the content."""
    return Counted(
        frequencies=content.frequencies + weight * context.frequencies,
        lengths=content.lengths + weight * context.lengths,
    )


def gather(*, counted: Counted, groups: Places, number: int) -> Counted:
    """Sum documents into `number` larger ones; `groups` has the index of the larger one for each document."""
    columns = [_summed(column, groups, number) for column in counted.frequencies.T]
    frequencies = np.stack(columns, axis=1) if columns else np.zeros((number, 0))
    return Counted(frequencies=frequencies, lengths=_summed(counted.lengths, groups, number))


def shares(*, counted: Counted, saturation: float, length_normalisation: float) -> Floats:
    """Return the share of each query word (column) in each document (row), 0 to 1.

    This is the factor of BM25 that depends on the document.
    """
    relative = counted.lengths / max(counted.lengths.mean(), 1e-9) if len(counted.lengths) else counted.lengths
    damping = saturation * (1 - length_normalisation + length_normalisation * relative)[:, None]
    often = counted.frequencies
    # The damping of an empty document may be 0, too; it scores 0.
    result: Floats = np.divide(often, often + damping, out=np.zeros_like(often), where=often > 0)
    return result


def score(*, counted: Counted, saturation: float, length_normalisation: float) -> Floats:
    """Return one score per document, 0 if it has no word of the query."""
    found = shares(counted=counted, saturation=saturation, length_normalisation=length_normalisation)
    return score_of_shares(shares=found, saturation=saturation)


def score_of_shares(*, shares: Floats, saturation: float) -> Floats:
    """Return one score per document from its shares of the query's words."""
    number = len(shares)
    containing = (shares > 0).sum(axis=0)
    idf = np.log(1 + (number - containing + 0.5) / (containing + 0.5))
    result: Floats = (idf * shares * (saturation + 1)).sum(axis=1)
    return result


def coverage(*, shares: Floats, saturation: float) -> Floats:
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
    covered = (idf * np.minimum(shares * (saturation + 1), 1.0)).sum(axis=1)
    result: Floats = covered / idf.sum()
    return result


def _summed(values: Floats, groups: Places, number: int) -> Floats:
    return np.bincount(groups, weights=values, minlength=number).astype(np.float64)
