"""Arrays of one end user's memories without those that went, and with those that came."""

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.memories.searched import Rows, Vectors
from apps.pipeline.bm25 import Places, Terms

Mask = NDArray[np.bool_]


def only(*, rows: Rows, vectors: Vectors, stay: Mask) -> tuple[Rows, Vectors]:
    """Return the memories that stay, with the vectors that are theirs."""
    places = vectors.places[stay]
    theirs = np.zeros(len(vectors.contents), dtype=np.bool_)
    theirs[places[places >= 0]] = True
    moved = np.cumsum(theirs) - 1
    left = Vectors(
        places=_places(places, moved),
        contents=vectors.contents[theirs],
        questions=vectors.questions[np.repeat(theirs, vectors.counts)],
        counts=vectors.counts[theirs],
    )
    return Rows(**{each.name: _only(getattr(rows, each.name), stay) for each in fields(Rows)}), left


def together(*, rows: Rows, vectors: Vectors, more: Rows, their: Vectors) -> tuple[Rows, Vectors]:
    """Return two lots of memories as one."""
    joined = Rows(**{each.name: _together(getattr(rows, each.name), getattr(more, each.name)) for each in fields(Rows)})
    moved = np.arange(len(their.contents)) + len(vectors.contents)
    return joined, Vectors(
        places=_together(vectors.places, _places(their.places, moved)),
        contents=_together(vectors.contents, their.contents),
        questions=_together(vectors.questions, their.questions),
        counts=_together(vectors.counts, their.counts),
    )


def _places(places: Places, moved: Places) -> Places:
    """Return where vectors are after they were moved; those that are owed stay owed."""
    result = places.copy()
    result[places >= 0] = moved[places[places >= 0]]
    return result


def _only(values: Any, stay: Mask) -> Any:
    if isinstance(values, Terms):
        return Terms(hashes=values.hashes[np.repeat(stay, values.lengths)], lengths=values.lengths[stay])
    return values[stay]


def _together(values: Any, more: Any) -> Any:
    if isinstance(values, Terms):
        return Terms(hashes=_together(values.hashes, more.hashes), lengths=_together(values.lengths, more.lengths))
    return np.concatenate((values, more))
