"""Alerts as pages show them."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import Alert, AlertQuerySet
from apps.alerts.verdict import ADVICE, ALERTS, Advice
from apps.console.people import names_of

_OPEN_FIRST = ("-state", "-id")  # of those that are not resolved: "open" sorts after "acknowledged"


@dataclass(frozen=True, slots=True)
class AlertCard:
    """An alert with the link that mends it, and the name of whoever has acknowledged it."""

    alert: Alert
    advice: Advice
    url: str
    acknowledged_by: str


def alerts_by(*, project_id: UUID, state: str, kind: str) -> AlertQuerySet:
    """Return alerts of a state, by default open ones and then acknowledged ones, of a kind, by default of any."""
    alerts = Alert.objects.for_project(project_id).order_by(*_OPEN_FIRST)
    alerts = alerts.filter(state=state) if state in set(AlertState) else alerts.unresolved()
    return alerts.filter(kind=kind) if kind in ALERTS else alerts


def alert_cards(alerts: Iterable[Alert], *, slug: str) -> list[AlertCard]:
    """Add what the pages of a project show beside each alert."""
    listed = list(alerts)
    names = names_of(each.acknowledged_by for each in listed if each.acknowledged_by)
    cards = []
    for alert in listed:
        advice = ADVICE[ProblemCode(alert.kind)]
        cards.append(AlertCard(alert, advice, advice.path(slug), names.get(alert.acknowledged_by, "")))
    return cards
