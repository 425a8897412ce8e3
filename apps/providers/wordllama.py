"""WordLlama: static word vectors from the wheel itself, offline, about 20 µs per sentence."""

import mmap
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, cast

import msgspec
import numpy as np
import wordllama
from wordllama.inference import WordLlamaInference

from apps.pipeline.core.ports import Vector
from apps.providers.errors import ProviderUnavailable

NAME = "wordllama"
DIMENSION = 256
# A text is padded to the longest of its batch: both limits bound the memory that one call takes.
_MOST_CHARACTERS = 4_000
_BATCH = 16

_lock = Lock()
_loaded: list[WordLlamaInference] = []


class WordLlamaEmbedder:
    """Embed sentences as the normalised mean of their tokens' vectors; the model is loaded at the first call."""

    name = NAME
    dimension = DIMENSION

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector of 256 floats per text; a text without tokens has the zero vector.

        Text beyond 4,000 characters is ignored. Raises ProviderUnavailable.
        """
        if not texts:
            return []
        cut = [text[:_MOST_CHARACTERS] for text in texts]
        rows = model().embed(cut, norm=False, batch_size=_BATCH)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        vectors: list[Vector] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0).tolist()
        return vectors


def count_tokens(text: str) -> int:
    """Count the tokens of a text with the tokenizer of Llama 2.

    The tokenizers of agents differ by some percent; none is available offline for all of them.
    """
    return len(model().tokenizer.encode(text, add_special_tokens=False).ids)


def model() -> WordLlamaInference:
    """Return the model, loaded once per process from the installed wheel, without network access.

    Raises ProviderUnavailable if the wheel contains no weights.
    """
    with _lock:
        if _loaded:
            return _loaded[0]
        folder = Path(wordllama.__file__).parent
        try:
            loaded = wordllama.WordLlama.load(cache_dir=folder, dim=DIMENSION, disable_download=True)
        except (FileNotFoundError, ValueError) as error:
            raise ProviderUnavailable(f"the wordllama package holds no weights: {error}") from error
        loaded.embedding = _weights(folder / "weights" / f"l2_supercat_{DIMENSION}.safetensors")
        _loaded.append(loaded)
        return loaded


def _weights(file: Path) -> "np.memmap[Any, np.dtype[np.float16]]":
    """Map the weights as they are in the file, for all processes; loaded, they take 33 MB of each, as float32.

    Raises ProviderUnavailable for a file of other numbers.
    """
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        described = msgspec.json.decode(opened.read(size))["embedding.weight"]
    if described["dtype"] != "F16":
        raise ProviderUnavailable(f"the weights of wordllama are {described['dtype']}, not F16")
    begin = 8 + size + described["data_offsets"][0]
    mapped = np.memmap(file, dtype=np.float16, mode="r", offset=begin, shape=tuple(described["shape"]))
    cast("mmap.mmap", mapped.base).madvise(mmap.MADV_RANDOM)  # a row is read alone, not with its neighbours
    return mapped
