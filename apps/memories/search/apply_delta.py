"""Arrays of one end user's memories without those that went, and with those that came.

What is known of the memories is written anew; their vectors, most of what is kept, are not: new ones lie in a block of
their own, and those of no memory stay where they are, until either are an eighth of all.
"""

from dataclasses import fields
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.memories.search.snapshot import Rows, VectorBlock, Vectors
from apps.pipeline.retrieval.bm25 import Places, Terms

SHARE_APART = 8
Mask = NDArray[np.bool_]


def apply_delta(*, rows: Rows, vectors: Vectors, stay: Mask, more: Rows, their: Vectors) -> tuple[Rows, Vectors]:
    """Return the memories that stay and `more`, each lot with its vectors."""
    joined = {each.name: _patched(getattr(rows, each.name), stay, getattr(more, each.name)) for each in fields(Rows)}
    here = sum(map(len, vectors.blocks))
    places = np.concatenate((vectors.places[stay], np.where(their.places < 0, -1, their.places + here)))
    first, *since = vectors.blocks
    return Rows(**joined), _tidied(Vectors(places=places, blocks=(first, reduce(_together, (*since, *their.blocks)))))


def without(*, rows: Rows, vectors: Vectors, stay: Mask) -> tuple[Rows, Vectors]:
    """Return the memories that stay, with their vectors."""
    left = {each.name: _only(getattr(rows, each.name), stay) for each in fields(Rows)}
    return Rows(**left), _tidied(Vectors(places=vectors.places[stay], blocks=vectors.blocks))


def _tidied(vectors: Vectors) -> Vectors:
    """Return the vectors as one block of those that are somebody's, where many are not or lie apart."""
    total = sum(map(len, vectors.blocks))
    apart = total - len(vectors.blocks[0])
    nobodys = total - int(np.count_nonzero(vectors.places >= 0))
    if max(apart, nobodys) * SHARE_APART <= total:
        return vectors
    block = reduce(_together, vectors.blocks)
    theirs = np.zeros(total, dtype=np.bool_)
    theirs[vectors.places[vectors.places >= 0]] = True
    moved: Places = np.append(np.cumsum(theirs) - 1, -1)
    left = VectorBlock(
        contents=block.contents[theirs],
        questions=block.questions[np.repeat(theirs, block.counts)],
        counts=block.counts[theirs],
    )
    return Vectors(places=moved[vectors.places], blocks=(left,))


def _together(block: VectorBlock, more: VectorBlock) -> VectorBlock:
    return VectorBlock(
        contents=np.concatenate((block.contents, more.contents)),
        questions=np.concatenate((block.questions, more.questions)),
        counts=np.concatenate((block.counts, more.counts)),
    )


def _only(values: Any, stay: Mask) -> Any:
    if isinstance(values, Terms):
        return Terms(hashes=values.hashes[np.repeat(stay, values.lengths)], lengths=values.lengths[stay])
    return values[stay]


def _patched(values: Any, stay: Mask, more: Any) -> Any:
    left = _only(values, stay)
    if isinstance(left, Terms):
        return Terms(
            hashes=np.concatenate((left.hashes, more.hashes)), lengths=np.concatenate((left.lengths, more.lengths))
        )
    return np.concatenate((left, more))
