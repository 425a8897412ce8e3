"""The outcome of one item of a request in bulk."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from apps.common.errors import Refused
from apps.pipeline.core.input_validation import BadInput


@dataclass(frozen=True, slots=True)
class BulkOutcome:
    """The memory that an item has stored or changed, or the error because of which nothing was done for it."""

    memory_id: UUID | None
    error: Refused | BadInput | None = None


@contextmanager
def noting(outcomes: list[BulkOutcome], memory_id: UUID) -> Iterator[None]:
    """Append the outcome of the block; what refuses it is kept with the memory."""
    try:
        yield
    except (Refused, BadInput) as error:
        outcomes.append(BulkOutcome(memory_id, error))
    else:
        outcomes.append(BulkOutcome(memory_id))


def count_refused(outcomes: Sequence[BulkOutcome]) -> int:
    """Return how many items were refused."""
    return sum(each.error is not None for each in outcomes)
