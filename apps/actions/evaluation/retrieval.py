"""Retrieval precision: whether what agents were told held for the next thirty days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from apps.actions.evaluation.share import Share, share_of

HORIZON = timedelta(days=30)  # after a memory was told for the first time


@dataclass(frozen=True, slots=True)
class ToldOutcome:
    """What became of a memory within the horizon; all False: nothing was said of it again."""

    confirmed: bool = False  # said again elsewhere, or approved by a person
    contradicted: bool = False  # a link to a memory that can't be true as well
    superseded: bool = False  # a newer value replaced it

    @property
    def is_wrong(self) -> bool:
        """Return True if agents should rather not have been told; a later objection outweighs a confirmation."""
        return self.contradicted or self.superseded


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """The memories that were told, by what became of them; one may count for several outcomes.

    `precision` is the share of those that were confirmed among those of which anything was heard again.
    """

    told: int
    confirmed: int
    contradicted: int
    superseded: int
    precision: Share


def retrieval_figures(told: Mapping[ToldOutcome, int]) -> RetrievalFigures:
    """Count memories by what became of them."""
    wrong = sum(count for outcome, count in told.items() if outcome.is_wrong)
    right = sum(count for outcome, count in told.items() if outcome.confirmed and not outcome.is_wrong)
    return RetrievalFigures(
        told=sum(told.values()),
        confirmed=sum(count for outcome, count in told.items() if outcome.confirmed),
        contradicted=sum(count for outcome, count in told.items() if outcome.contradicted),
        superseded=sum(count for outcome, count in told.items() if outcome.superseded),
        precision=share_of(part=right, whole=right + wrong),
    )
