"""Which memories of an end user are in a context block whatever is asked: rules, important facts, upcoming events."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.pipeline.retrieval.bm25 import Places
from apps.pipeline.retrieval.ranking import Memories

_TENTHS = 10
_A_TENTH = 10**17  # more than any time in microseconds since 1970


@dataclass(frozen=True, slots=True)
class Kinds:
    """What a block chooses by, one entry per memory in each array."""

    event_at: NDArray[np.int64]  # Unix time in seconds, 0 where there is none
    are_events: NDArray[np.bool_]
    are_rules: NDArray[np.bool_]  # constraints and conventions


def most_important(*, memories: Memories, among: NDArray[np.bool_], limit: int) -> Places:
    """Return the indexes of the most important memories, to a tenth; of equals the latest said come first."""
    wanted = np.flatnonzero(among)
    tenths = np.rint(np.round(memories.importance[wanted], 1) * _TENTHS).astype(np.int64)
    order = tenths * _A_TENTH + (memories.said_at[wanted] * 1e6).astype(np.int64)
    if len(wanted) > limit:  # only those that are at least as good as the last one have to be sorted
        good = order >= np.partition(order, -limit)[-limit]
        wanted, order = wanted[good], order[good]
    ids = memories.ids[wanted]
    result: Places = wanted[np.lexsort((ids[:, 1], ids[:, 0], order))][::-1][:limit]
    return result


def upcoming(*, memories: Memories, kinds: Kinds, among: NDArray[np.bool_], now: float, limit: int) -> Places:
    """Return the indexes of the next events after `now`, Unix time; of those at the same time the latest made first."""
    wanted = np.flatnonzero(among & kinds.are_events & (kinds.event_at > now))
    ids = memories.ids[wanted]
    result: Places = wanted[np.lexsort((~ids[:, 1], ~ids[:, 0], kinds.event_at[wanted]))][:limit]
    return result
