"""Views of /v1/alerts and /v1/alert-recipients."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.alerts.services import acknowledge_alert, set_recipients
from apps.alerts.models import Alert, AlertRecipients
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas.alerts import (
    AcknowledgeBody,
    AlertList,
    AlertRecipientsBody,
    AlertRecipientsResponse,
    AlertResponse,
    AlertsQuery,
    alert_response,
    recipients_response,
)
from apps.api.validation import read_body, read_id, read_query
from apps.api.views.base import ApiView, http_response, replayable_answer, to_json
from apps.intake.idempotency import ReplayableAnswer as ReplayableAnswer
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.input_validation import check_storable


class AlertsView(ApiView):
    """The alerts of the project."""

    @documented(operation="list_alerts", summary="List alerts", query=AlertsQuery, responses={200: AlertList})
    def get(self, request: Request) -> Response:
        """List alerts, newest first, by default those that are not resolved."""
        query = read_query(request, AlertsQuery)
        alerts = Alert.objects.for_project(self.caller.project_id).filter(state__in=query.state)
        if query.kind:
            alerts = alerts.filter(kind__in=query.kind)
        pages = Pages(limit=query.limit)
        found = pages.read(alerts, request)
        return Response(to_json(AlertList(results=[alert_response(each) for each in found], **pages.links())))


class AlertAcknowledgeView(ApiView):
    """Acknowledging an alert."""

    scopes = {"POST": Scope.ADMIN}

    @documented(
        operation="acknowledge_alert",
        summary="Acknowledge an alert",
        body=AcknowledgeBody,
        responses={200: AlertResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"note": "The vendor has an outage."},
        repeatable=True,
    )
    def post(self, request: Request, alert_id: str) -> HttpResponse:
        """Say that somebody takes care of an open alert. It is resolved by itself when its cause is mended."""
        body = read_body(request, AcknowledgeBody)
        check_storable(body.note, at="/note")
        return http_response(self.idempotent(lambda: self._acknowledged(alert_id, body)))

    def _acknowledged(self, alert_id: str, body: AcknowledgeBody) -> ReplayableAnswer:
        alert = acknowledge_alert(
            project_id=self.caller.project_id, alert_id=read_id(Prefix.ALERT, alert_id), note=body.note
        )
        return replayable_answer(alert_response(alert))


class AlertRecipientsView(ApiView):
    """Who is told about the alerts of the project."""

    scopes = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN, "PUT": Scope.ADMIN}

    @documented(
        operation="get_alert_recipients", summary="Get the recipients", responses={200: AlertRecipientsResponse}
    )
    def get(self, request: Request) -> Response:
        """Return who is told about alerts, without the secret of the webhook."""
        recipients = AlertRecipients.objects.filter(project_id=self.caller.project_id).first()
        return Response(to_json(recipients_response(recipients)))

    @documented(
        operation="set_alert_recipients",
        summary="Set the recipients",
        body=AlertRecipientsBody,
        responses={200: AlertRecipientsResponse},
        example={"webhook_url": "https://example.com/alerts", "mail_addresses": ["ops@example.com"]},
    )
    def put(self, request: Request) -> Response:
        """Replace the recipients. The first webhook, or `renew_secret`, makes a secret, which is returned only now."""
        body = read_body(request, AlertRecipientsBody)
        for index, address in enumerate(body.mail_addresses):
            check_storable(address, at=f"/mail_addresses/{index}")
        check_storable(body.webhook_url, at="/webhook_url")
        change = set_recipients(
            project_id=self.caller.project_id,
            webhook_url=body.webhook_url,
            mail_addresses=body.mail_addresses,
            renew_secret=body.renew_secret,
        )
        return Response(to_json(recipients_response(change.recipients, secret=change.secret)))
