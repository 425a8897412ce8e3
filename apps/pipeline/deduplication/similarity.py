"""Similarity: the cosines that dedupe uses; each text is embedded once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import sqrt
from operator import mul
from uuid import UUID

from apps.pipeline.core.ports import Embedder, Neighbour, Vector
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication.lexical_diff import distinct_words

# The cosine of each pair of residuals that are both not empty.
ResidualCosines = Mapping[tuple[str, str], float]


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
    owed = [each.memory.content for near in neighbours for each in near if each.cosine is None]
    known = _embed(owed, embedder)
    return [
        [
            each if each.cosine is not None else replace(each, cosine=cosine(vector, known[each.memory.content]))
            for each in near
        ]
        for vector, near in zip(vectors, neighbours, strict=True)
    ]


def alike(
    *, contents: Sequence[str], vectors: Sequence[Vector], neighbours: Sequence[Sequence[Neighbour]], least: float
) -> set[tuple[str, str]]:
    """Return the pairs of sentences, the new one first, whose cosine is high enough for a comparison."""
    known = {
        (content, each.memory.content)
        for content, near in zip(contents, neighbours, strict=True)
        for each in near
        if each.cosine is not None and each.cosine >= least
    }
    return known | {
        (contents[later], contents[earlier])
        for earlier, later in combinations(range(len(contents)), 2)
        if cosine(vectors[later], vectors[earlier]) >= least
    }


def residual_cosines(*, pairs: set[tuple[str, str]], embedder: Embedder) -> ResidualCosines:
    """Return the cosines of the residuals of pairs in which both sentences have one."""
    telling = sorted(pair for pair in {distinct_words(one, two) for one, two in pairs} if all(pair))
    known = _embed([part for pair in telling for part in pair], embedder)
    return {(one, two): cosine(known[one], known[two]) for one, two in telling}


def proposed_cosines(
    candidates: Sequence[Candidate], *, vectors: Sequence[Vector], named: Sequence[StoredMemory], embedder: Embedder
) -> dict[tuple[int, UUID], float]:
    """Return the cosines of candidates and the memories that the extractor says they repeat, replace or contradict."""
    sentences = {each.id: each.content for each in named}
    pairs = [
        (candidate.index, memory_id, vector)
        for candidate, vector in zip(candidates, vectors, strict=True)
        for memory_id in candidate.proposed
        if memory_id in sentences
    ]
    known = _embed([sentences[memory_id] for _, memory_id, _ in pairs], embedder)
    return {(index, memory_id): cosine(vector, known[sentences[memory_id]]) for index, memory_id, vector in pairs}


def _embed(texts: Sequence[str], embedder: Embedder) -> dict[str, Vector]:
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, embedder.embed(distinct), strict=True)) if distinct else {}
