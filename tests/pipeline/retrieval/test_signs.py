"""Cosines are estimated from signs well enough to find the vectors that are worth comparing exactly."""

import struct

import numpy as np
import pytest

from apps.pipeline.retrieval.signs import estimated_cosines, signs, signs_of

DIMENSION = 256


def packed(vector: np.ndarray) -> bytes:
    """Pack the signs of a vector as PostgreSQL sends a bit string."""
    return struct.pack(">i", len(vector)) + np.packbits(vector > 0).tobytes()


def unit_vectors(number: int, *, dimension: int = DIMENSION) -> np.ndarray:
    drawn = np.random.default_rng(5).standard_normal((number, dimension))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.mark.parametrize("dimension", [256, 100, 64, 7])
def test_what_the_database_sends_is_what_a_query_gets(dimension) -> None:
    vectors = unit_vectors(3, dimension=dimension)
    read = signs(b"".join(map(packed, vectors)), dimension=dimension)
    assert read.tolist() == [signs_of(each.tolist()).tolist() for each in vectors]


def test_equal_opposite_and_unrelated_vectors() -> None:
    one, other = unit_vectors(2)
    read = signs(packed(one) + packed(-one) + packed(other), dimension=DIMENSION)
    equal, opposite, unrelated = estimated_cosines(vectors=read, asked=one.tolist()).tolist()
    assert (equal, opposite) == (pytest.approx(1), pytest.approx(-1))
    assert abs(unrelated) < 0.4


def test_estimates_are_near_the_cosines() -> None:
    vectors = unit_vectors(500)
    asked = vectors[0] + 0.5 * vectors[1]
    estimated = estimated_cosines(
        vectors=signs(b"".join(map(packed, vectors)), dimension=DIMENSION), asked=asked.tolist()
    )
    exact = vectors @ asked / np.linalg.norm(asked)
    assert np.abs(estimated - exact).mean() < 0.1
    assert set(np.argsort(estimated)[-2:]) == {0, 1}


def test_no_vectors_have_no_cosines() -> None:
    assert len(estimated_cosines(vectors=signs(b"", dimension=DIMENSION), asked=[1.0] * DIMENSION)) == 0
