"""Schemas of /v1/alerts and /v1/alert-recipients."""

from typing import Annotated, Any

from msgspec import Meta

from apps.actions.alerts.remedies import remedy_of
from apps.alerts.enums import AlertKind, AlertState
from apps.alerts.models import NOTE_LENGTH, Alert, AlertRecipients
from apps.api.schemas.actors import ActorResponse, actor_response_or_none
from apps.api.schemas.common import Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.events.models import WEBHOOK_URL_LENGTH


class AlertsQuery(QueryParameters):
    """Filters for a list of alerts; without `state` those that are not resolved."""

    state: tuple[AlertState, ...] = (AlertState.OPEN, AlertState.ACKNOWLEDGED)
    kind: tuple[AlertKind, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class AcknowledgeBody(RequestBody):
    """A note for the others who read the alert."""

    note: Annotated[str, Meta(max_length=NOTE_LENGTH)] = ""


class ConsequenceResponse(ResponseBody):
    """Something that follows from what an alert is about."""

    kind: AlertKind
    subject: str
    cause: str
    cost: str


class AlertResponse(ResponseBody):
    """An alert: what is wrong, what it costs, what follows from it, and what mends it.

    `figures` depend on the kind; they are those of the last `window_hours`, or where that is null of one moment,
    `last_seen_at`.
    """

    id: str
    kind: AlertKind
    subject: str
    state: AlertState
    cause: str
    cost: str
    consequences: list[ConsequenceResponse]
    remedy: str
    figures: dict[str, Any]
    window_hours: int | None
    opened_at: Moment
    last_seen_at: Moment
    acknowledged_at: Moment | None
    acknowledged_by: ActorResponse | None
    note: str | None
    resolved_at: Moment | None


class AlertList(ResponseBody):
    """Alerts, newest first."""

    next: str | None
    previous: str | None
    results: list[AlertResponse]


class AlertRecipientsBody(RequestBody):
    """Who is told about alerts; an empty `webhook_url` is no webhook. `renew_secret` replaces the webhook's secret."""

    webhook_url: Annotated[str, Meta(max_length=WEBHOOK_URL_LENGTH)] = ""
    mail_addresses: Annotated[tuple[Annotated[str, Meta(max_length=254)], ...], Meta(max_length=20)] = ()
    renew_secret: bool = False


class AlertRecipientsResponse(ResponseBody):
    """Who is told about alerts. `webhook_secret` is returned only once, when it is made; else it is null."""

    webhook_url: str
    mail_addresses: list[str]
    webhook_secret: str | None


def alert_response(alert: Alert) -> AlertResponse:
    """Convert an alert."""
    kind = AlertKind(alert.kind)
    return AlertResponse(
        id=alert.shown_id,
        kind=kind,
        subject=alert.subject,
        state=AlertState(alert.state),
        cause=alert.cause,
        cost=alert.cost,
        consequences=[ConsequenceResponse(**each) for each in alert.consequences],
        remedy=remedy_of(kind, subject=alert.subject).label,
        figures=alert.figures,
        window_hours=alert.window_hours,
        opened_at=alert.opened_at,
        last_seen_at=alert.last_seen_at,
        acknowledged_at=alert.acknowledged_at,
        acknowledged_by=actor_response_or_none(alert.acknowledged_by),
        note=alert.note or None,
        resolved_at=alert.resolved_at,
    )


def recipients_response(recipients: AlertRecipients | None, *, secret: str = "") -> AlertRecipientsResponse:
    """Convert recipients; None are those of a project that has never named any."""
    return AlertRecipientsResponse(
        webhook_url=recipients.webhook_url if recipients else "",
        mail_addresses=recipients.mail_addresses if recipients else [],
        webhook_secret=secret or None,
    )
