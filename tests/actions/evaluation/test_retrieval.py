"""Retrieval precision at 30 days."""

from apps.actions.evaluation.retrieval import RetrievalFigures, ToldOutcome, retrieval_figures
from apps.actions.evaluation.share import share_of

NOTHING = ToldOutcome()
CONFIRMED = ToldOutcome(confirmed=True)
CONTRADICTED = ToldOutcome(contradicted=True)
SUPERSEDED = ToldOutcome(superseded=True)
DISPUTED = ToldOutcome(confirmed=True, contradicted=True, superseded=True)


def test_an_objection_outweighs_a_confirmation() -> None:
    told = {NOTHING: 50, CONFIRMED: 8, CONTRADICTED: 1, SUPERSEDED: 2, DISPUTED: 1}
    assert retrieval_figures(told) == RetrievalFigures(
        told=62, confirmed=9, contradicted=2, superseded=3, precision=share_of(part=8, whole=12)
    )


def test_what_was_never_heard_of_again_tells_nothing() -> None:
    figures = retrieval_figures({NOTHING: 5})
    assert (figures.told, figures.precision.value) == (5, None)
