"""Alerts of projects, who is told about them, the messages sent, and the heartbeat of the scheduler."""

from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.alerts.enums import AlertEvent, AlertState, DeliveryChannel
from apps.common.rows import ShownRow
from apps.events.enums import DeliveryState
from apps.events.models import WEBHOOK_URL_LENGTH, Delivery
from apps.pipeline.core.enums import choices_of, values_of
from apps.pipeline.core.identifiers import Prefix
from apps.tenants.encrypted_text import EncryptedTextField

NOTE_LENGTH = 500
SUBJECT_LENGTH = 200


class AlertQuerySet(models.QuerySet["Alert"]):
    """Alerts by project and state."""

    def for_project(self, project_id: UUID) -> "AlertQuerySet":
        """Filter the alerts of a project."""
        return self.filter(project_id=project_id)

    def open(self) -> "AlertQuerySet":
        """Filter alerts that nobody has acknowledged."""
        return self.filter(state=AlertState.OPEN)

    def unresolved(self) -> "AlertQuerySet":
        """Filter alerts that are open or acknowledged."""
        return self.filter(resolved_at__isnull=True)


class Alert(ShownRow):
    """Something in a project that needs attention, from when it was noticed until it is over."""

    prefix = Prefix.ALERT
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=32, help_text="a ProblemCode")
    subject = models.CharField(max_length=SUBJECT_LENGTH, blank=True, help_text="the model")
    state = models.CharField(max_length=16, choices=choices_of(AlertState), default=AlertState.OPEN.value)
    cause = models.TextField(help_text="what is wrong, when it was last seen")
    cost = models.TextField(help_text="what it costs while it lasts")
    figures = models.JSONField(default=dict)
    opened_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now, help_text="when its condition last held")
    acknowledged_at = models.DateTimeField(null=True, blank=True)
    acknowledged_by = models.CharField(max_length=160, blank=True, help_text="person or key")
    note = models.CharField(max_length=NOTE_LENGTH, blank=True, help_text="of whoever has acknowledged it")
    resolved_at = models.DateTimeField(null=True, blank=True)

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(
                fields=("project", "kind", "subject"), condition=Q(resolved_at__isnull=True), name="alert_once"
            ),
            models.CheckConstraint(condition=Q(state__in=values_of(AlertState)), name="alert_state_known"),
            models.CheckConstraint(
                condition=Q(state=AlertState.RESOLVED.value, resolved_at__isnull=False)
                | Q(~Q(state=AlertState.RESOLVED.value), resolved_at__isnull=True),
                name="alert_resolved_at_set",
            ),
        ]
        indexes = [models.Index(fields=("project", "-id"), name="alert_of_project")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}".strip()


class AlertRecipients(models.Model):
    """Who is told about the alerts of a project."""

    project = models.OneToOneField(
        "tenants.Project", on_delete=models.CASCADE, primary_key=True, related_name="alert_recipients"
    )
    webhook_url = models.CharField(max_length=WEBHOOK_URL_LENGTH, blank=True, help_text="empty: no webhook")
    webhook_secret = EncryptedTextField(
        blank=True, editable=False, help_text="shared with the receiver, which checks signatures with it"
    )
    mail_addresses = ArrayField(models.EmailField(max_length=254), default=list, blank=True)
    changed_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "alert recipients"

    def __str__(self) -> str:
        return f"recipients of {self.project_id}"


class AlertDelivery(Delivery):
    """One message about an alert to one recipient."""

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.CharField(max_length=16, choices=choices_of(AlertEvent))
    channel = models.CharField(max_length=16, choices=choices_of(DeliveryChannel))
    recipient = models.CharField(
        max_length=WEBHOOK_URL_LENGTH, help_text="the address of the webhook, or a mail address"
    )

    class Meta(Delivery.Meta):
        verbose_name_plural = "alert deliveries"
        constraints = [
            models.UniqueConstraint(fields=("alert", "event", "channel", "recipient"), name="alert_told_once"),
            models.CheckConstraint(condition=Q(state__in=values_of(DeliveryState)), name="delivery_state_known"),
        ]
        indexes = [
            models.Index(
                fields=("next_try_at",), condition=Q(state=DeliveryState.WAITING.value), name="delivery_waiting"
            ),
            models.Index(fields=("project", "-id"), name="delivery_of_project"),
        ]

    def __str__(self) -> str:
        return f"{self.event} by {self.channel}"


class SchedulerHeartbeat(models.Model):
    """When a host last ran a scheduled task, and what its processes had counted at each minute before."""

    host = models.CharField(primary_key=True, max_length=255)
    seen_at = models.DateTimeField()
    counts = models.JSONField(default=list, help_text="minute and RequestCounts, oldest first")

    class Meta:
        ordering = ("host",)

    def __str__(self) -> str:
        return self.host
