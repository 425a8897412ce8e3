"""sentence-transformers, for those who install it: the package is imported only when it is chosen."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from apps.pipeline.ports import Vector
from apps.providers.errors import ProviderUnavailable


class SentenceTransformersEmbedder:
    """A local embedding model. Raises ProviderUnavailable where the package is not installed."""

    def __init__(self, *, name: str) -> None:
        try:
            package = import_module("sentence_transformers")
        except ImportError as error:
            raise ProviderUnavailable(
                "EMBEDDER names sentence-transformers: pip install sentence-transformers"
            ) from error
        self._model: Any = package.SentenceTransformer(name)
        self._name = name

    @property
    def name(self) -> str:
        """Return the name that its vectors carry."""
        return f"sentence-transformers:{self._name}"

    @property
    def dimension(self) -> int:
        """Return the length of its vectors."""
        return int(self._model.get_sentence_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector a text."""
        if not texts:
            return []
        vectors: list[Vector] = self._model.encode(list(texts), normalize_embeddings=True).tolist()
        return vectors
