"""Endpoints /v1/alerts and /v1/alert-recipients."""

from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from apps.alerts.enums import AlertState, ProblemCode
from apps.alerts.models import NOTE_LENGTH, Alert, AlertRecipients
from apps.alerts.services import acknowledge_alert, set_recipients
from apps.alerts.verdict import ADVICE
from apps.api.actors import ActorSerializer
from apps.api.problems import Code
from apps.api.serializers import ApiModelSerializer, ApiSerializer, EnumField, NullIfBlankField, PageQuery
from apps.api.viewsets import ApiViewSet, operation
from apps.events.models import WEBHOOK_URL_LENGTH
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix


class AlertsQuery(PageQuery):
    """Filters for a list of alerts; without `statuses` those that are not resolved."""

    statuses = serializers.ListField(
        child=EnumField(AlertState), default=[AlertState.OPEN.value, AlertState.ACKNOWLEDGED.value]
    )
    kinds = serializers.ListField(child=EnumField(ProblemCode), default=list)


class AcknowledgeSerializer(ApiSerializer):
    """A note for the others who read the alert."""

    note = serializers.CharField(max_length=NOTE_LENGTH, allow_blank=True, default="")


class AlertSerializer(ApiModelSerializer):
    """An alert: what is wrong, what it costs, and what mends it. `figures` are those of `last_seen_at`."""

    id = serializers.CharField(source="shown_id")
    kind = EnumField(ProblemCode)
    status = EnumField(AlertState, source="state")
    remedy = serializers.SerializerMethodField()
    figures = serializers.DictField()
    acknowledged_by = ActorSerializer(allow_null=True)
    note = NullIfBlankField()

    class Meta:
        model = Alert
        fields = [
            *("id", "kind", "subject", "status", "cause", "cost", "remedy", "figures", "opened_at", "last_seen_at"),
            *("acknowledged_at", "acknowledged_by", "note", "resolved_at"),
        ]

    def get_remedy(self, alert: Alert) -> str:
        """Return what mends it."""
        return ADVICE[ProblemCode(alert.kind)].remedy


class AlertRecipientsSerializer(ApiSerializer):
    """Who is told about alerts; an empty `webhook_url` is no webhook. `renew_secret` replaces the webhook's secret.

    `webhook_secret` is returned only once, when it is made; else it is null.
    """

    webhook_url = serializers.CharField(max_length=WEBHOOK_URL_LENGTH, allow_blank=True, default="")
    mail_addresses = serializers.ListField(
        child=serializers.CharField(max_length=254, allow_blank=True), max_length=20, default=list
    )
    renew_secret = serializers.BooleanField(default=False, write_only=True)
    webhook_secret = serializers.CharField(read_only=True, allow_null=True, default=None)


class AlertViewSet(ApiViewSet):
    """The alerts of the project."""

    prefix = Prefix.ALERT
    queryset = Alert.objects.all()
    lookup_url_kwarg = "alert_id"
    scopes = {"POST": Scope.ADMIN}

    @operation("list_alerts", summary="List alerts", query=AlertsQuery, answers={200: AlertSerializer(many=True)})
    def list(self, request: Request) -> Response:
        """List alerts, newest first, by default those that are not resolved."""
        alerts = self.get_queryset().filter(state__in=self.query["statuses"])
        if self.query["kinds"]:
            alerts = alerts.filter(kind__in=self.query["kinds"])
        return self.answer_page(AlertSerializer, alerts)

    @operation(
        "acknowledge_alert",
        summary="Acknowledge an alert",
        body=AcknowledgeSerializer,
        answers={200: AlertSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"note": "The vendor has an outage."},
        is_repeatable=True,
    )
    @action(methods=["post"], detail=True)
    def acknowledge(self, request: Request, alert_id: str) -> Response:
        """Say that somebody takes care of an open alert. It is resolved by itself when its cause is mended."""
        alert = acknowledge_alert(**self.named, **self.valid(AcknowledgeSerializer))
        return self.answer(AlertSerializer, alert)


class AlertRecipientsViewSet(ApiViewSet):
    """Who is told about the alerts of the project."""

    scopes = dict.fromkeys(("GET", "HEAD", "PUT"), Scope.ADMIN)

    @operation("get_alert_recipients", summary="Get the recipients", answers={200: AlertRecipientsSerializer})
    def retrieve(self, request: Request) -> Response:
        """Return who is told about alerts, without the secret of the webhook."""
        found = AlertRecipients.objects.filter(project_id=self.caller.project_id).first()
        return self.shown(found or AlertRecipients())

    @operation(
        "set_alert_recipients",
        summary="Set the recipients",
        body=AlertRecipientsSerializer,
        answers={200: AlertRecipientsSerializer},
        example={"webhook_url": "https://example.com/alerts", "mail_addresses": ["ops@example.com"]},
    )
    def update(self, request: Request) -> Response:
        """Replace the recipients. The first webhook, or `renew_secret`, makes a secret, which is returned only now."""
        change = set_recipients(project_id=self.caller.project_id, **self.valid(AlertRecipientsSerializer))
        return self.shown(change.recipients, secret=change.secret)

    def shown(self, recipients: AlertRecipients, *, secret: str = "") -> Response:
        """Return the recipients, with a secret that was made now."""
        values = {"webhook_url": recipients.webhook_url, "mail_addresses": recipients.mail_addresses}
        return self.answer(AlertRecipientsSerializer, {**values, "webhook_secret": secret or None})
