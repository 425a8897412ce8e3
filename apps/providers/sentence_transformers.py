"""sentence-transformers, an optional package that is imported only if it is configured."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from apps.pipeline.core.ports import Vector
from apps.providers.errors import ProviderUnavailable


class SentenceTransformersEmbedder:
    """A local embedding model, by its name on the hub or by its folder.

    Raises ProviderUnavailable if the package is not installed or the folder does not exist.
    """

    def __init__(self, *, name: str) -> None:
        folder = Path(name).expanduser()
        if name.startswith(("/", "~", ".")) and not folder.is_dir():
            raise ProviderUnavailable(f"EMBEDDER names a folder that is not there: {folder}")
        try:
            package = import_module("sentence_transformers")
        except ImportError as error:
            raise ProviderUnavailable(
                "EMBEDDER names sentence-transformers: pip install sentence-transformers"
            ) from error
        self.name = f"sentence-transformers:{name}"
        self._model: Any = package.SentenceTransformer(str(folder))
        # Version 6 has renamed it and warns of the former name.
        dimension = getattr(self._model, "get_embedding_dimension", None)
        self.dimension = int((dimension or self._model.get_sentence_embedding_dimension)())

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text."""
        if not texts:
            return []
        vectors: list[Vector] = self._model.encode(list(texts), normalize_embeddings=True).tolist()
        return vectors
