"""Store many memories directly: those that can't be stored are named, the others are stored."""

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from apps.actions.errors import Conflict, Unfit
from apps.actions.memories.bulk_outcome import BulkOutcome
from apps.actions.memories.store import StoreRequest, store
from apps.pipeline.core.input_validation import BadInput

CHUNK = 100  # memories per transaction
_PLACE = re.compile(r"/memories/(\d+)")


def store_batch(*, request: StoreRequest) -> list[BulkOutcome]:
    """Store memories in transactions of CHUNK; return what became of each, in the order of the request."""
    outcomes: list[BulkOutcome] = []
    for first in range(0, len(request.memories), CHUNK):
        places = range(first, min(first + CHUNK, len(request.memories)))
        found = _store_chunk(request, places)
        outcomes += [found[place] for place in places]
    return outcomes


def _store_chunk(request: StoreRequest, places: Sequence[int]) -> dict[int, BulkOutcome]:
    """Store the memories at some places together, without those that are refused."""
    left, outcomes = list(places), dict[int, BulkOutcome]()
    while left:
        try:
            stored = store(request=replace(request, memories=tuple(request.memories[place] for place in left)))
        except (Unfit, BadInput) as error:
            wrong = _PLACE.match(error.at)
            if wrong:
                error.at = error.at[wrong.end() :]  # within the memory
            refused = [left.pop(int(wrong[1]))] if wrong else _emptied(left)
            outcomes |= {place: BulkOutcome(None, error) for place in refused}
        except Conflict as error:
            outcomes |= {place: BulkOutcome(None, error) for place in _emptied(left)}
        else:
            return outcomes | _stored(left, stored)
    return outcomes


def _emptied(left: list[int]) -> list[int]:
    taken = list(left)
    left.clear()
    return taken


def _stored(places: Sequence[int], stored: Sequence[UUID]) -> dict[int, BulkOutcome]:
    return {place: BulkOutcome(memory_id) for place, memory_id in zip(places, stored, strict=True)}
