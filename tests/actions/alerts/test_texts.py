"""What alerts say: cause, since when and cost, and the page that mends it."""

from datetime import UTC, datetime

import pytest

from apps.actions.alerts.conditions import Condition, Measured, SilentModel, conditions_of
from apps.actions.alerts.remedies import RemedyPage, remedy_of
from apps.actions.alerts.texts import cause_text, cost_text
from apps.actions.evaluation.share import share_of
from apps.alerts.enums import AlertKind
from apps.pipeline.core.enums import PausedKind, Stage
from apps.traces.funnel_metrics import Ratio

NOW = datetime(2026, 3, 5, 14, 25, tzinfo=UTC)


def silent(kind: PausedKind, waiting: int) -> Condition:
    model = SilentModel("openai:down", kind, datetime(2026, 3, 5, 14, 20, tzinfo=UTC), waiting)
    (condition,) = conditions_of(Measured(now=NOW, workers=1, silent_models=(model,)))
    return condition


def precision_of(right: int, judged: int) -> list[Condition]:
    return conditions_of(Measured(now=NOW, workers=1, precision=share_of(part=right, whole=judged)))


@pytest.mark.parametrize(
    ("condition", "cause", "cost"),
    [
        (
            silent(PausedKind.MODEL, 1),
            "The model openai:down has not answered since 2026-03-05 14:20 UTC.",
            "1 request waits for it; what was said is remembered once it answers.",
        ),
        (
            silent(PausedKind.EMBEDDER, 2_000),
            "The embedder openai:down has not answered since 2026-03-05 14:20 UTC.",
            "2,000 requests wait for it; what was said is remembered once it answers.",
        ),
        (
            Condition(AlertKind.NO_WORKER, figures={"seconds": 90, "open": 1}),
            "No worker is running, and the oldest work has waited for 90 s.",
            "1 piece of work is queued; what was said is remembered late.",
        ),
        (
            Condition(AlertKind.QUEUE_AGE, figures={"seconds": 750, "open": 34}),
            "The oldest queued work has waited for 12 min.",
            "34 pieces of work are queued; what was said is remembered late.",
        ),
        (
            Condition(AlertKind.DEAD_WORK, figures={"dead": 1}),
            "1 piece of work failed for good.",
            "What these requests say is not remembered until somebody retries them.",
        ),
        (
            Condition(AlertKind.VECTOR_LAG, figures={"seconds": 200_000}),
            "The oldest memory without vectors has waited for 2 d.",
            "Searches find new memories by their words alone.",
        ),
        (
            Condition(
                AlertKind.STAGE_LATENCY,
                "extract",
                {"p99_us": 12_000_000, "limit_us": 10_000_000, "spans": 100},
                window_hours=1,
            ),
            "The p99 latency of the stage extract is 12.0 s, its limit 10.0 s.",
            "One in a hundred of 100 runs took longer (last hour): memories come late.",
        ),
        (
            Condition(AlertKind.RATIO, "failed_calls", {"value": 0.12, "part": 60, "whole": 500}, window_hours=2),
            "Failed model calls: 12%, healthy is at most 0.20%.",
            "This concerns 60 of 500 (last 2 hours).",
        ),
        (
            Condition(AlertKind.SUDDEN_CHANGE, "pre_filter", {"before": 0.42, "latest": 0.18}, window_hours=24),
            "Users' turns dropped by the pre-filter: 18% in the latest hour, 42% before.",
            "Callers send other texts than before: rules may drop what matters, or pass what only costs model calls.",
        ),
        (
            precision_of(64, 100)[0],
            "Precision of the memories that were labelled last: 64%, it should be at least 70%.",
            "36 of 100 judged memories are wrong, and agents are told them.",
        ),
    ],
)
def test_the_texts(condition: Condition, cause: str, cost: str) -> None:
    assert (cause_text(condition), cost_text(condition)) == (cause, cost)


@pytest.mark.parametrize(("right", "judged", "holds"), [(69, 100, 1), (70, 100, 0), (0, 0, 0), (0, 29, 0), (0, 30, 1)])
def test_a_precision_below_seventy_percent_is_a_condition(right: int, judged: int, holds: int) -> None:
    assert len(precision_of(right, judged)) == holds


def test_every_kind_has_a_remedy() -> None:
    subjects = {AlertKind.RATIO: "low_quality", AlertKind.STAGE_LATENCY: Stage.EXTRACT.value}
    assert all(remedy_of(kind, subject=subjects.get(kind, "")).label for kind in AlertKind)
    assert remedy_of(AlertKind.RATIO, subject=Ratio.FAILED_CALLS.name.lower()).page is RemedyPage.QUEUE
