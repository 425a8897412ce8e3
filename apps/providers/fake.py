"""Deterministic providers for tests and dry runs: word vectors from hashes, and a scripted model."""

import hashlib
import math
import re
from collections.abc import Callable, Sequence

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.ports import Vector

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Embed a text as the sum of its words' signed buckets; the cosine counts the words that two texts share."""

    def __init__(self, *, name: str = "hashing", dimension: int = 64) -> None:
        self.name, self.dimension = name, dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text; a text without words has the zero vector."""
        vectors: list[Vector] = []
        for text in texts:
            sums = [0.0] * self.dimension
            for word in _WORD.findall(text.casefold()):
                number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
                sums[number % self.dimension] += 1.0 if number >> 63 else -1.0
            length = math.sqrt(sum(value * value for value in sums))
            vectors.append([value / length for value in sums] if length else sums)
        return vectors


class ScriptedModel:
    """Answers with a function of the request, and records the requests."""

    def __init__(self, answer: Callable[[ModelRequest], ModelAnswer | str]) -> None:
        self._answer = answer
        self.asked: list[ModelRequest] = []

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises what the script raises."""
        self.asked.append(request)
        answer = self._answer(request)
        return answer if isinstance(answer, ModelAnswer) else ModelAnswer(text=answer, model="scripted")
