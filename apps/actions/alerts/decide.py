"""Decide which alerts to open, to keep and to resolve."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from apps.actions.alerts.causes import Key, cause_of
from apps.actions.alerts.measured import Condition

# How long a condition must have been absent: longer than the longest pause between two tries of a model (7.5 minutes
# with jitter), so that a model which answers one call in between does not resolve and reopen its alert.
RESOLVE_AFTER = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class UnresolvedAlert:
    """An alert that is open or acknowledged; `last_seen_at` is when its condition last held."""

    id: UUID
    key: Key
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class AlertFinding:
    """A condition that holds, and the conditions that follow from it."""

    condition: Condition
    consequences: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertDecisions:
    """What to do: findings to open an alert for, findings of alerts that last, and alerts to resolve."""

    opened: tuple[AlertFinding, ...]
    lasting: tuple[tuple[UUID, AlertFinding], ...]
    resolved: tuple[UUID, ...]


def decide(
    *,
    conditions: Sequence[Condition],
    unresolved: Sequence[UnresolvedAlert],
    now: datetime,
    resolve_after: timedelta = RESOLVE_AFTER,
) -> AlertDecisions:
    """Compare the conditions that hold with the alerts that are not resolved.

    A condition that follows from another, or from a cause whose alert is not resolved yet, opens no alert of its own;
    one whose alert is older than the cause keeps it.
    """
    known = {alert.key: alert for alert in unresolved}
    holding = {condition.key: condition for condition in conditions}
    causes = list(dict.fromkeys([*holding, *known]))
    followers: dict[Key, list[Condition]] = {}
    own: list[Condition] = []
    for key, condition in holding.items():
        cause = None if key in known else cause_of(key, among=causes)
        if cause is None:
            own.append(condition)
        else:
            followers.setdefault(cause, []).append(condition)
    findings = [AlertFinding(each, tuple(followers.get(each.key, ()))) for each in own]
    return AlertDecisions(
        opened=tuple(each for each in findings if each.condition.key not in known and each.condition.opens),
        lasting=tuple((known[each.condition.key].id, each) for each in findings if each.condition.key in known),
        resolved=tuple(
            alert.id for alert in unresolved if alert.key not in holding and now - alert.last_seen_at >= resolve_after
        ),
    )
