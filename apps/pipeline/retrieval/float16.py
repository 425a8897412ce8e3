"""Cosines of many vectors in half precision, as the database stores them; this takes half of the memory of floats.

Numpy converts half-precision numbers one by one. Shifting their bits to the position in a float and scaling by a
power of two is exact and takes a third of the time.
"""

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.core.ports import Vector
from apps.pipeline.retrieval.bm25 import Floats, Places

Halves = NDArray[np.uint16]  # the bits of half-precision numbers, one vector per row

_HEAD = 2  # 16-bit numbers
_AT_ONCE = 256  # vectors that fit into a processor's cache
_SHIFT = 13  # difference in the length of the fractions
_WITHOUT_COPIES = np.int32(-0x70000001)  # shift of the sign bit beyond the exponent
_SCALE = np.float32(2.0**112)  # difference of the exponents' biases, 127 and 15


def halves(packed: bytes, *, dimension: int) -> Halves:
    """Parse pgvector's binary format: dimension, two unused bytes, the numbers in network byte order."""
    return np.frombuffer(packed, dtype=">u2").reshape(-1, _HEAD + dimension)[:, _HEAD:].astype(np.uint16)


def cosines(*, vectors: Halves, asked: Vector) -> Floats:
    """Return the cosine of each unit vector and the query's, which is rounded to half precision as well."""
    scaled = np.asarray(asked, dtype=np.float16).astype(np.float32) * _SCALE
    result = np.empty(len(vectors))
    for start in range(0, len(vectors), _AT_ONCE):
        bits = vectors[start : start + _AT_ONCE].view(np.int16).astype(np.int32)
        bits <<= _SHIFT
        bits &= _WITHOUT_COPIES
        result[start : start + _AT_ONCE] = np.vecdot(bits.view(np.float32), scaled)
    return result


def highest(*, values: Floats, counts: Places) -> Floats:
    """Return the maximum of each run of values, NaN for an empty run; `counts` are the lengths of the runs."""
    result = np.full(len(counts), np.nan)
    some = counts > 0
    if some.any():
        result[some] = np.maximum.reduceat(values, (np.cumsum(counts) - counts)[some])
    return result
