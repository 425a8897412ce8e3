"""Store many memories directly: those that can't be stored are named, the others are stored."""

import re
from dataclasses import replace

from apps.common.errors import Conflict, Unfit
from apps.memories.services.bulk_outcome import BulkOutcome
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.input_validation import BadInput

CHUNK = 100  # memories per transaction
_PLACE = re.compile(r"/memories/(\d+)")


def store_batch(*, request: StoreRequest) -> list[BulkOutcome]:
    """Store memories in transactions of CHUNK; return what became of each, in the order of the request."""
    outcomes: dict[int, BulkOutcome] = {}
    places = range(len(request.memories))
    for first in places[::CHUNK]:
        left = list(places[first : first + CHUNK])
        while left:
            try:
                stored = store(request=replace(request, memories=tuple(request.memories[place] for place in left)))
            except Conflict as error:
                outcomes |= dict.fromkeys(left, BulkOutcome(None, error))
            except (Unfit, BadInput) as error:
                if wrong := _PLACE.match(error.at):  # the others are tried again without it
                    error.at = error.at[wrong.end() :]  # within the memory
                    outcomes[left.pop(int(wrong[1]))] = BulkOutcome(None, error)
                    continue
                outcomes |= dict.fromkeys(left, BulkOutcome(None, error))
            else:
                outcomes |= {place: BulkOutcome(each) for place, each in zip(left, stored, strict=True)}
            break
    return [outcomes[place] for place in places]
