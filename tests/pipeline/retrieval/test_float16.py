"""Cosines of half-precision vectors are those of the equivalent floats."""

import numpy as np
import pytest

from apps.pipeline.retrieval.float16 import cosines, halves, highest

SPECIAL = [0.0, -0.0, 1.0, -1.0, 6e-8, -6e-8, 6.1e-5, 0.333, -0.999, 65504.0]


def sent(vectors: np.ndarray) -> bytes:
    """Return vectors in pgvector's binary format."""
    head = np.full((len(vectors), 1), vectors.shape[1] << 16, dtype=">u4")
    return b"".join(one.tobytes() + each.tobytes() for one, each in zip(head, vectors.astype(">f2"), strict=True))


@pytest.mark.parametrize("number", [0, 1, 255, 256, 257, 1_000])
def test_cosines_are_those_of_floats(number: int) -> None:
    vectors = np.random.default_rng(number).uniform(-1, 1, (number, 24)).astype(np.float16)
    asked = np.random.default_rng(7).uniform(-1, 1, 24)
    read = halves(sent(vectors), dimension=24)
    expected = vectors.astype(np.float64) @ asked.astype(np.float16).astype(np.float64)
    assert cosines(vectors=read, asked=asked.tolist()) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("number", SPECIAL)
def test_every_kind_of_number_is_read(number: float) -> None:
    read = halves(sent(np.array([[number, 0.0]])), dimension=2)
    assert cosines(vectors=read, asked=[1.0, 0.0]).tolist() == [float(np.float16(number))]


def test_the_highest_of_each_run_is_told() -> None:
    best = highest(values=np.array([0.1, 0.3, -0.2]), counts=np.array([0, 2, 0, 1, 0]))
    assert best.tolist() == pytest.approx([np.nan, 0.3, np.nan, -0.2, np.nan], nan_ok=True)
    assert highest(values=np.array([]), counts=np.array([0, 0])).tolist() == pytest.approx([np.nan] * 2, nan_ok=True)
