"""The noise floor of each embedder, measured once per process."""

from threading import Lock

from cachetools import LRUCache, cached

from apps.pipeline.core.ports import Embedder
from apps.pipeline.retrieval.noise_floor import measure_noise_floor

MAX_EMBEDDERS = 32


@cached(cache=LRUCache(maxsize=MAX_EMBEDDERS), key=lambda embedder: (embedder.name, embedder.dimension), lock=Lock())
def noise_floor_of(embedder: Embedder) -> float:
    """Return the cosine below which similarity under this embedder means nothing.

    Raises whatever the embedder raises, and measures again at the next call.
    """
    return measure_noise_floor(embedder=embedder)
