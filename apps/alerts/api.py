"""Views of /v1/alerts and /v1/alert-recipients."""

from typing import Annotated, Any

from msgspec import Meta
from rest_framework.request import Request

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import NOTE_LENGTH, Alert, AlertRecipients
from apps.alerts.services import acknowledge_alert, set_recipients
from apps.alerts.verdict import ADVICE
from apps.api.actors import ActorResponse, actor_response_or_none
from apps.api.base import ApiView
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import Limit, Moment, PageBody, QueryParameters, RequestBody, ResponseBody, response_of
from apps.api.validation import read_id
from apps.events.models import WEBHOOK_URL_LENGTH
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import check_storable


class AlertsQuery(QueryParameters):
    """Filters for a list of alerts; without `statuses` those that are not resolved."""

    statuses: tuple[AlertState, ...] = (AlertState.OPEN, AlertState.ACKNOWLEDGED)
    kinds: tuple[ProblemCode, ...] = ()
    cursor: str | None = None
    limit: Limit = 50


class AcknowledgeBody(RequestBody):
    """A note for the others who read the alert."""

    note: Annotated[str, Meta(max_length=NOTE_LENGTH)] = ""


class AlertResponse(ResponseBody):
    """An alert: what is wrong, what it costs, and what mends it. `figures` are those of `last_seen_at`."""

    id: str
    kind: ProblemCode
    subject: str
    status: AlertState
    cause: str
    cost: str
    remedy: str
    figures: dict[str, Any]
    opened_at: Moment
    last_seen_at: Moment
    acknowledged_at: Moment | None
    acknowledged_by: ActorResponse | None
    note: str | None
    resolved_at: Moment | None


class AlertList(PageBody):
    """Alerts, newest first."""

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
    kind = ProblemCode(alert.kind)
    return response_of(
        AlertResponse,
        alert,
        id=alert.shown_id,
        kind=kind,
        status=AlertState(alert.state),
        remedy=ADVICE[kind].remedy,
        acknowledged_by=actor_response_or_none(alert.acknowledged_by),
        note=alert.note or None,
    )


def recipients_response(recipients: AlertRecipients | None, *, secret: str = "") -> AlertRecipientsResponse:
    """Convert recipients; None are those of a project that has never named any."""
    return response_of(AlertRecipientsResponse, recipients or AlertRecipients(), webhook_secret=secret or None)


class AlertsView(ApiView):
    """The alerts of the project."""

    @operation("list_alerts", summary="List alerts")
    def get(self, request: Request, query: AlertsQuery) -> AlertList:
        """List alerts, newest first, by default those that are not resolved."""
        alerts = Alert.objects.for_project(self.caller.project_id).filter(state__in=query.statuses)
        if query.kinds:
            alerts = alerts.filter(kind__in=query.kinds)
        return self.page(AlertList, alerts, alert_response, limit=query.limit)


class AlertAcknowledgeView(ApiView):
    """Acknowledging an alert."""

    scopes = {"POST": Scope.ADMIN}

    @operation(
        "acknowledge_alert",
        summary="Acknowledge an alert",
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"note": "The vendor has an outage."},
        repeatable=True,
    )
    def post(self, request: Request, alert_id: str, body: AcknowledgeBody) -> AlertResponse:
        """Say that somebody takes care of an open alert. It is resolved by itself when its cause is mended."""
        check_storable(body.note, at="/note")
        wanted = read_id(Prefix.ALERT, alert_id)
        return alert_response(acknowledge_alert(project_id=self.caller.project_id, alert_id=wanted, note=body.note))


class AlertRecipientsView(ApiView):
    """Who is told about the alerts of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "PUT": Scope.ADMIN}

    @operation("get_alert_recipients", summary="Get the recipients")
    def get(self, request: Request) -> AlertRecipientsResponse:
        """Return who is told about alerts, without the secret of the webhook."""
        recipients = AlertRecipients.objects.filter(project_id=self.caller.project_id).first()
        return recipients_response(recipients)

    @operation(
        "set_alert_recipients",
        summary="Set the recipients",
        example={"webhook_url": "https://example.com/alerts", "mail_addresses": ["ops@example.com"]},
    )
    def put(self, request: Request, body: AlertRecipientsBody) -> AlertRecipientsResponse:
        """Replace the recipients. The first webhook, or `renew_secret`, makes a secret, which is returned only now."""
        for index, address in enumerate(body.mail_addresses):
            check_storable(address, at=f"/mail_addresses/{index}")
        check_storable(body.webhook_url, at="/webhook_url")
        change = set_recipients(
            project_id=self.caller.project_id,
            webhook_url=body.webhook_url,
            mail_addresses=body.mail_addresses,
            renew_secret=body.renew_secret,
        )
        return recipients_response(change.recipients, secret=change.secret)
