"""The noise floor of an embedder: the cosine of unrelated texts."""

import math
from collections.abc import Sequence

import pytest
from apps.pipeline.retrieval.noise_floor import measure_noise_floor

from apps.providers.fake import HashingEmbedder
from apps.providers.wordllama import WordLlamaEmbedder


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class CrowdedEmbedder(HashingEmbedder):
    """Gives any two texts a cosine near 0.7, as some models do."""

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        share = math.sqrt(0.7)
        rest = math.sqrt(0.3)
        return [[share, *(rest * each for each in vector)] for vector in super().embed(texts)]


def test_unrelated_texts_of_the_default_embedder_stay_below_related_ones() -> None:
    embedder = WordLlamaEmbedder()
    floor = measure_noise_floor(embedder=embedder)
    asked, related, unrelated, gibberish = embedder.embed(
        ["Which animals does she own?", "She has a cat and a dog.", "The invoice is due in March.", "fnord qux zibble"]
    )
    assert dot(asked, unrelated) < floor < dot(asked, related)
    assert dot(gibberish, unrelated) < floor


def test_it_follows_the_embedder() -> None:
    plain, crowded = HashingEmbedder(dimension=256), CrowdedEmbedder(dimension=256)
    low, high = measure_noise_floor(embedder=plain), measure_noise_floor(embedder=crowded)
    assert low < 0.4
    assert high == pytest.approx(0.7 + 0.3 * low, abs=0.02)
