"""BM25 over documents whose words are hashes, with the exact frequencies and lengths of the given documents.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf of Lucene,
ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
"""

from collections.abc import Sequence
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
    """Frequencies of the query words (columns) in the documents that have any of them (rows).

    Few of many documents have a word of a query, so the others have no row.
    """

    frequencies: Floats
    documents: Places  # of the rows, ascending
    lengths: Floats  # of all documents


@dataclass(frozen=True, slots=True)
class Shares:
    """The factor of BM25 that depends on the document, 0 to 1, by row and word as in Counted."""

    values: Floats
    documents: Places
    number: int  # of all documents

    def of_all(self, values: Floats) -> Floats:
        """Return one value per document: those of the rows, and 0 for the others."""
        result = np.zeros(self.number)
        result[self.documents] = values
        return result


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
    owners = np.searchsorted(np.cumsum(terms.lengths), places, side="right")  # ascending
    begins = np.ones(len(owners), dtype=np.bool_)
    begins[1:] = owners[1:] != owners[:-1]
    documents = owners[begins]
    frequencies = _table(rows=np.cumsum(begins) - 1, columns=columns, shape=(len(documents), len(wanted)))
    return Counted(frequencies=frequencies, documents=documents, lengths=terms.lengths.astype(np.float64))


def _table(*, rows: Places, columns: Places, shape: tuple[int, int]) -> Floats:
    """Count pairs; in column-major order, because all further computations go through the columns."""
    counted = np.bincount(columns * shape[0] + rows, minlength=shape[0] * shape[1])
    return counted.astype(np.float64).reshape(shape[1], shape[0]).T


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
    documents, at = _numbered((content.documents, context.documents), len(content.lengths))
    frequencies = np.zeros((len(documents), content.frequencies.shape[1]), order="F")
    frequencies[at[content.documents]] = content.frequencies
    frequencies[at[context.documents]] += weight * context.frequencies
    lengths = content.lengths + weight * context.lengths
    return Counted(frequencies=frequencies, documents=documents, lengths=lengths)


def gather(*, counted: Counted, groups: Places, number: int) -> Counted:
    """Sum documents into `number` larger ones; `groups` has the index of the larger one for each document."""
    groups_of_rows = groups[counted.documents]
    documents, at = _numbered((groups_of_rows,), number)
    rows = at[groups_of_rows]
    columns = [_summed(column, rows, len(documents)) for column in counted.frequencies.T]
    frequencies = np.stack(columns, axis=1) if columns else np.zeros((len(documents), 0))
    lengths = _summed(counted.lengths, groups, number)
    return Counted(frequencies=frequencies, documents=documents, lengths=lengths)


def _numbered(some: Sequence[Places], number: int) -> tuple[Places, Places]:
    """Return the different ones of some documents, ascending, and the position there of each of all documents."""
    marked = np.zeros(number, dtype=np.bool_)
    for documents in some:
        marked[documents] = True
    different = np.flatnonzero(marked)
    at = np.zeros(number, dtype=np.int64)
    at[different] = np.arange(len(different))
    return different, at


def shares(*, counted: Counted, saturation: float, length_normalisation: float) -> Shares:
    """Return the share of each query word in each document."""
    lengths, documents = counted.lengths, counted.documents
    relative = lengths[documents] / max(lengths.mean(), 1e-9) if len(lengths) else lengths
    damping = saturation * (1 - length_normalisation + length_normalisation * relative)[:, None]
    often = counted.frequencies
    # The damping of an empty document may be 0, too; it scores 0.
    values: Floats = np.divide(often, often + damping, out=np.zeros_like(often), where=often > 0)
    return Shares(values=values, documents=documents, number=len(lengths))


def score(*, counted: Counted, saturation: float, length_normalisation: float) -> Floats:
    """Return one score per document, 0 if it has no word of the query."""
    found = shares(counted=counted, saturation=saturation, length_normalisation=length_normalisation)
    return score_of_shares(shares=found, saturation=saturation)


def score_of_shares(*, shares: Shares, saturation: float) -> Floats:
    """Return one score per document from its shares of the query's words."""
    containing = (shares.values > 0).sum(axis=0)
    idf = np.log(1 + (shares.number - containing + 0.5) / (containing + 0.5))
    return shares.of_all((idf * shares.values * (saturation + 1)).sum(axis=1))


def coverage(*, shares: Shares, saturation: float) -> Floats:
    """Return the share of the query's idf mass that each document covers, 0 to 1: comparable between queries.

    Words that are in no document count as well, so that one word of ten is a tenth. A few documents say little about
    the rarity of a word, so a word that is not in all of them is counted as if BACKGROUND others lacked it.
    """
    number = shares.number
    if not shares.values.size:
        return np.zeros(number)
    containing = (shares.values > 0).sum(axis=0)
    lacking = BACKGROUND * (1 - np.maximum(containing - 1, 0) / number)
    idf = np.log(1 + (number + lacking - containing + 0.5) / (containing + 0.5))
    covered = (idf * np.minimum(shares.values * (saturation + 1), 1.0)).sum(axis=1)
    return shares.of_all(covered / idf.sum())


def _summed(values: Floats, groups: Places, number: int) -> Floats:
    return np.bincount(groups, weights=values, minlength=number).astype(np.float64)
