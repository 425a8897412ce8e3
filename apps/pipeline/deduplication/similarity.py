"""Similarity: the cosines that dedupe uses; each text is embedded once."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from operator import mul

from apps.pipeline.core.ports import Embedder, Neighbour, Vector


def cosine(one: Vector, two: Vector) -> float:
    """Return the cosine of two vectors; 0 where one has no length."""
    lengths = sqrt(_product(one, one)) * sqrt(_product(two, two))
    return _product(one, two) / lengths if lengths else 0.0


def _product(one: Vector, two: Vector) -> float:
    return float(sum(map(mul, one, two)))


def with_cosines(
    *, vectors: Sequence[Vector], neighbours: Sequence[Sequence[Neighbour]], embedder: Embedder
) -> list[list[Neighbour]]:
    """Compute the cosines of neighbours whose vector is not stored yet."""
    missing = [each.memory.content for near in neighbours for each in near if each.cosine is None]
    texts = list(dict.fromkeys(missing))
    known = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    return [
        [
            each if each.cosine is not None else replace(each, cosine=cosine(vector, known[each.memory.content]))
            for each in near
        ]
        for vector, near in zip(vectors, neighbours, strict=True)
    ]
