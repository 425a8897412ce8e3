"""Apply a change to the cached arrays of one end user: remove some memories and add others.

The row arrays are copied. The vectors, most of the cached bytes, are not: new vectors go to a second block and vectors
of removed memories stay in place, until either makes up an eighth of all vectors; then the blocks are compacted.
"""

from dataclasses import fields
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.memories.search.snapshot import Block, Rows, Vectors
from apps.pipeline.retrieval.bm25 import Places, Terms

COMPACTION_SHARE = 8
Mask = NDArray[np.bool_]


def apply_delta(
    *, rows: Rows, vectors: Vectors, stay: Mask, new_rows: Rows, new_vectors: Vectors
) -> tuple[Rows, Vectors]:
    """Return the memories selected by `stay` followed by the new ones, each with its vectors."""
    joined = {
        each.name: _append(_select(getattr(rows, each.name), stay), getattr(new_rows, each.name))
        for each in fields(Rows)
    }
    offset = sum(map(len, vectors.blocks))
    places = np.concatenate((vectors.places[stay], np.where(new_vectors.places < 0, -1, new_vectors.places + offset)))
    first, *later = vectors.blocks
    second = reduce(_append_block, (*later, *new_vectors.blocks))
    return Rows(**joined), _compacted(Vectors(places=places, blocks=(first, second)))


def remove(*, rows: Rows, vectors: Vectors, stay: Mask) -> tuple[Rows, Vectors]:
    """Return the memories selected by `stay`, with their vectors."""
    selected = {each.name: _select(getattr(rows, each.name), stay) for each in fields(Rows)}
    return Rows(**selected), _compacted(Vectors(places=vectors.places[stay], blocks=vectors.blocks))


def _compacted(vectors: Vectors) -> Vectors:
    """Return one block of the vectors in use, where many are unused or outside of the first block."""
    total = sum(map(len, vectors.blocks))
    outside = total - len(vectors.blocks[0])
    unused = total - int(np.count_nonzero(vectors.places >= 0))
    if max(outside, unused) * COMPACTION_SHARE <= total:
        return vectors
    block = reduce(_append_block, vectors.blocks)
    used = np.zeros(total, dtype=np.bool_)
    used[vectors.places[vectors.places >= 0]] = True
    new_places: Places = np.append(np.cumsum(used) - 1, -1)  # the last entry maps -1 to -1
    compacted = _block(
        type(block),
        contents=block.contents[used],
        questions=block.questions[np.repeat(used, block.counts)],
        counts=block.counts[used],
    )
    return Vectors(places=new_places[vectors.places], blocks=(compacted,))


def _append_block(block: Block, more: Block) -> Block:
    return _block(
        type(block),
        contents=np.concatenate((block.contents, more.contents)),
        questions=np.concatenate((block.questions, more.questions)),
        counts=np.concatenate((block.counts, more.counts)),
    )


def _block(kind: type[Block], *, contents: Any, questions: Any, counts: Places) -> Block:
    return kind(contents=contents, questions=questions, counts=counts)


def _select(values: Any, stay: Mask) -> Any:
    if isinstance(values, Terms):
        return Terms(hashes=values.hashes[np.repeat(stay, values.lengths)], lengths=values.lengths[stay])
    return values[stay]


def _append(values: Any, more: Any) -> Any:
    if isinstance(values, Terms):
        return Terms(
            hashes=np.concatenate((values.hashes, more.hashes)),
            lengths=np.concatenate((values.lengths, more.lengths)),
        )
    return np.concatenate((values, more))
