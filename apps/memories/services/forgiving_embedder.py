"""An embedder for direct writes, which succeed even if the provider of embeddings does not answer."""

from collections.abc import Sequence

from apps.common.errors import ProviderError
from apps.pipeline.core.ports import Embedder, Vector


class ForgivingEmbedder:
    """Embeds each text once; if the provider fails, the vector is zero, which is similar to nothing."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    @property
    def name(self) -> str:
        """Return the name of the embedder."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Return the length of its vectors."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text."""
        missing = [each for each in dict.fromkeys(texts) if each not in self._known]
        if missing:
            self._known |= zip(missing, self._vectors(missing), strict=True)
        return [self._known[each] for each in texts]

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        try:
            return self._embedder.embed(texts)
        except ProviderError:
            return [[0.0] * self.dimension for _ in texts]
