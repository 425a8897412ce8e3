"""Cosines estimated from the signs of vectors, a sixteenth of the memory of half-precision numbers.

The share of signs in which two vectors differ estimates the angle between them (Charikar, Similarity estimation
techniques from rounding algorithms, 2002). With 256 signs the error of a cosine is about 0.1, so an estimate chooses
which vectors are worth comparing exactly (shortlist.py), and no more.
"""

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.ports import Vector
from apps.pipeline.retrieval.bm25 import Floats

Signs = NDArray[np.uint64]  # 64 signs in each number, one vector per row; bits beyond the dimension are 0

_HEAD = 4  # bytes: the number of bits
_WORD = 8  # bytes


def signs(packed: bytes, *, dimension: int) -> Signs:
    """Parse PostgreSQL's binary format of bit strings: their length, then their bytes."""
    length = -(-dimension // 8)
    read = np.frombuffer(packed, dtype=np.uint8).reshape(-1, _HEAD + length)[:, _HEAD:]
    return _words(read)


def signs_of(asked: Vector) -> Signs:
    """Return the signs of one vector, as the database quantises it: 1 for numbers above 0."""
    result: Signs = _words(np.packbits(np.asarray(asked, dtype=np.float16) > 0)[None, :])[0]
    return result


def estimated_cosines(*, vectors: Signs, asked: Vector) -> Floats:
    """Return the estimated cosine of each vector and the query's."""
    differing = np.zeros(len(vectors), dtype=np.uint16)
    for column, word in enumerate(signs_of(asked)):
        differing += np.bitwise_count(vectors[:, column] ^ word)
    cosines: Floats = np.cos(np.pi * np.arange(len(asked) + 1) / len(asked))[differing]
    return cosines


def _words(read: NDArray[np.uint8]) -> Signs:
    missing = -read.shape[1] % _WORD
    padded = np.pad(read, ((0, 0), (0, missing)))
    return np.ascontiguousarray(padded).view(np.uint64)
