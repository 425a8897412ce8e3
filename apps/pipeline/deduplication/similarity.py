"""Similarity: the cosines that dedupe uses; each text is embedded once."""

from collections.abc import Sequence
from dataclasses import replace
from operator import mul

from apps.pipeline.core.ports import Embedder, Neighbour, Vector


def cosine(one: Vector, two: Vector) -> float:
    """Return the cosine of two vectors of an embedder, which have the length 1 or 0."""
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
