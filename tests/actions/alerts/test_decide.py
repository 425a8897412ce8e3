"""Which alerts are opened, kept and resolved: tables of conditions that hold and alerts that are not resolved."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from apps.actions.alerts.conditions import RESOLVE_AFTER, AlertDecisions, Condition, UnresolvedAlert, decide
from apps.alerts.enums import AlertKind

NOW = datetime(2026, 3, 5, 14, 25, tzinfo=UTC)
MODEL = Condition(AlertKind.MODEL_UNAVAILABLE, "openai:down")
YOUNG = Condition(AlertKind.MODEL_UNAVAILABLE, "openai:down", opens=False)
EMBEDDER = Condition(AlertKind.EMBEDDER_UNAVAILABLE, "openai:embedder")
DEDUPE = Condition(AlertKind.STAGE_LATENCY, "dedupe")
WORKER = Condition(AlertKind.NO_WORKER)
QUEUE = Condition(AlertKind.QUEUE_AGE)
DEAD = Condition(AlertKind.DEAD_WORK)
LAG = Condition(AlertKind.VECTOR_LAG)
EXTRACT = Condition(AlertKind.STAGE_LATENCY, "extract")
PERSIST = Condition(AlertKind.STAGE_LATENCY, "persist")
FAILED = Condition(AlertKind.RATIO, "failed_calls")
LOW = Condition(AlertKind.RATIO, "low_quality")
CHANGE = Condition(AlertKind.SUDDEN_CHANGE, "pre_filter")


def alert(condition: Condition, *, seen: timedelta = timedelta(minutes=1)) -> UnresolvedAlert:
    return UnresolvedAlert(UUID(int=hash(condition.key) % 2**64), condition.key, NOW - seen)


def decided(holding: list[Condition], unresolved: list[UnresolvedAlert] | None = None) -> AlertDecisions:
    return decide(conditions=holding, unresolved=unresolved or [], now=NOW)


def opened(decisions: AlertDecisions) -> dict[str, list[str]]:
    """Return the consequences of each alert to open, by kind."""
    return {each.condition.kind.value: [other.kind.value for other in each.consequences] for each in decisions.opened}


@pytest.mark.parametrize(
    ("holding", "alerts"),
    [
        ([], {}),
        ([QUEUE], {"queue_age": []}),
        ([QUEUE, DEAD], {"queue_age": [], "dead_work": []}),
        ([MODEL], {"model_unavailable": []}),
        ([MODEL, QUEUE, DEAD, LAG], {"model_unavailable": ["queue_age", "dead_work", "vector_lag"]}),
        ([MODEL, EXTRACT, FAILED], {"model_unavailable": ["stage_latency", "ratio"]}),
        ([MODEL, PERSIST], {"model_unavailable": [], "stage_latency": []}),  # this stage asks no model
        ([MODEL, LOW], {"model_unavailable": [], "ratio": []}),
        ([MODEL, CHANGE], {"model_unavailable": [], "sudden_change": []}),
        ([EMBEDDER, LAG, DEDUPE], {"embedder_unavailable": ["vector_lag", "stage_latency"]}),
        ([EMBEDDER, FAILED, EXTRACT], {"embedder_unavailable": [], "ratio": [], "stage_latency": []}),
        ([WORKER, QUEUE, LAG], {"no_worker": ["queue_age", "vector_lag"]}),
        ([WORKER, DEAD], {"no_worker": [], "dead_work": []}),
        ([QUEUE, LAG], {"queue_age": ["vector_lag"]}),
        ([YOUNG, QUEUE, FAILED], {}),  # it explains them, and is too young itself
    ],
)
def test_consequences_are_part_of_the_alert_about_their_cause(
    holding: list[Condition], alerts: dict[str, list[str]]
) -> None:
    assert opened(decided(holding)) == alerts


def test_two_models_that_do_not_answer_are_two_alerts_and_the_first_explains() -> None:
    other = Condition(AlertKind.MODEL_UNAVAILABLE, "openai:other")
    first, second = decided([MODEL, other, QUEUE]).opened
    assert (first.consequences, second.consequences) == ((QUEUE,), ())


def test_an_alert_that_lasts_is_not_opened_again_and_gets_new_consequences() -> None:
    known = alert(MODEL)
    decisions = decided([MODEL, QUEUE], [known])
    ((alert_id, finding),) = decisions.lasting
    assert (decisions.opened, decisions.resolved) == ((), ())
    assert (alert_id, finding.consequences) == (known.id, (QUEUE,))


def test_an_alert_that_is_older_than_its_possible_cause_keeps_its_own() -> None:
    known = alert(DEAD)
    decisions = decided([MODEL, DEAD, QUEUE], [known])
    assert opened(decisions) == {"model_unavailable": ["queue_age"]}
    assert [alert_id for alert_id, _ in decisions.lasting] == [known.id]


def test_a_young_pause_prolongs_the_alert_that_is_there() -> None:
    assert [alert_id for alert_id, _ in decided([YOUNG], [alert(MODEL)]).lasting] == [alert(MODEL).id]


@pytest.mark.parametrize(
    ("ago", "is_resolved"),
    [(timedelta(0), False), (RESOLVE_AFTER - timedelta(seconds=1), False), (RESOLVE_AFTER, True)],
)
def test_an_alert_is_resolved_when_its_condition_was_absent_for_a_while(ago: timedelta, is_resolved: bool) -> None:
    decisions = decided([], [alert(QUEUE, seen=ago)])
    assert bool(decisions.resolved) == is_resolved
    assert decisions.lasting == ()


def test_what_remains_of_an_outage_opens_no_alert_until_the_outage_is_resolved() -> None:
    """The model answers again, and the queue is being worked off."""
    assert decided([QUEUE, FAILED], [alert(MODEL)]).opened == ()


def test_a_condition_that_flaps_stays_one_alert() -> None:
    """It holds every third minute for an hour: nothing is opened or resolved after the first time."""
    known, changes = alert(QUEUE), 0
    for minute in range(60):
        now = NOW + timedelta(minutes=minute)
        decisions = decide(conditions=[QUEUE] if minute % 3 == 0 else [], unresolved=[known], now=now)
        changes += len(decisions.opened) + len(decisions.resolved)
        if decisions.lasting:
            known = UnresolvedAlert(known.id, known.key, now)
    assert changes == 0
