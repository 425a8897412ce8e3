"""Alerts about the precision that an evaluation by people has found."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.pipeline.alerts.measured import SUBJECT_LENGTH, Condition
from apps.pipeline.core.enums import AlertKind

LEAST_PRECISION = 0.70
LEAST_JUDGED = 30  # fewer judged memories say nothing


@dataclass(frozen=True, slots=True)
class PrecisionWarning:
    """How many of the judged memories are right; `subject` names which, such as a memory type ("" is all)."""

    subject: str
    right: int
    judged: int

    @property
    def precision(self) -> float:
        """Return the share of right memories, 1.0 if none was judged."""
        return self.right / self.judged if self.judged else 1.0


def precision_conditions(warnings: Iterable[PrecisionWarning]) -> list[Condition]:
    """Return a condition for each precision below LEAST_PRECISION of at least LEAST_JUDGED memories."""
    return [
        Condition(
            AlertKind.EVALUATION_PRECISION,
            each.subject[:SUBJECT_LENGTH],
            {
                "precision": each.precision,
                "least": LEAST_PRECISION,
                "wrong": each.judged - each.right,
                "judged": each.judged,
            },
        )
        for each in warnings
        if each.judged >= LEAST_JUDGED and each.precision < LEAST_PRECISION
    ]
