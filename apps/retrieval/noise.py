"""The cosine that unrelated texts reach: what similarity means nothing, by embedder and by the language of a query.

An embedder knows some languages better than others. In a script that it hardly knows, all texts look alike: unrelated
Hebrew sentences may have a cosine of 0.8 where English ones have 0.05. So a query is compared with statements about
nothing in particular in many languages; those of the language that is nearest on average tell what is noise for it.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from apps.pipeline.core.ports import Embedder, Vector

_STATEMENTS = Path(__file__).with_name("unrelated_statements.json")
_DEVIATIONS = 1.9  # about 1 of 40 unrelated pairs is above it, measured with wordllama in fourteen languages
_HIGHEST = 0.97
MAX_EMBEDDERS = 32


@dataclass(frozen=True, slots=True)
class Noise:
    """The vectors of the statements by language, and how far cosines within a language deviate from their mean."""

    statements: NDArray[np.float64]  # language, statement, dimension
    deviation: float

    def of(self, query: Vector) -> float:
        """Return the cosine that texts which have nothing to do with a query reach."""
        means = (self.statements @ np.asarray(query)).mean(axis=1)
        return float(np.clip(means.max() + _DEVIATIONS * self.deviation, 0.0, _HIGHEST))


@cached(cache=LRUCache(maxsize=MAX_EMBEDDERS), key=lambda embedder: (embedder.name, embedder.dimension), lock=Lock())
def noise_of(embedder: Embedder) -> Noise:
    """Measure the noise of an embedder, once per process.

    Embeds 152 short texts. Raises whatever the embedder raises, and measures again at the next call.
    """
    texts = list(json.loads(_STATEMENTS.read_text()).values())
    vectors = np.asarray(embedder.embed([each for language in texts for each in language]), dtype=np.float64)
    statements = vectors.reshape(len(texts), len(texts[0]), -1)
    cosines = statements @ statements.transpose(0, 2, 1)
    pairs = cosines[:, ~np.eye(len(texts[0]), dtype=np.bool_)]
    return Noise(statements=statements, deviation=float((pairs - pairs.mean(axis=1, keepdims=True)).std()))
