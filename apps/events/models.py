"""Events of projects, the webhooks that are told of them, and each delivery. No column holds words of end users."""

from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.events.enums import DeliveryState
from apps.outbox.leased import LeasedModel, LeasedQuerySet
from apps.pipeline.core.enums import choices_of, values_of
from apps.pipeline.core.identifiers import Prefix, new_id, show
from apps.tenants.encrypted_text import EncryptedTextField

WEBHOOK_NAME_LENGTH = 120
WEBHOOK_URL_LENGTH = 500


class EventLog(models.Model):
    """Whether the events of a project are recorded, and the number of the last one that readers can see."""

    project = models.OneToOneField("tenants.Project", on_delete=models.CASCADE, primary_key=True, related_name="+")
    is_on = models.BooleanField(default=True)
    last_number = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"events of {self.project_id}"


class ProjectEvent(models.Model):
    """Something that has happened in a project, as identifiers and states.

    `id` is a database sequence: two changes of a memory have it in the order of the changes. `number` is given by the
    cluster after the commit, without gaps, so that no reader passes over an event that was committed late.
    """

    id = models.BigAutoField(primary_key=True)
    event_id = models.UUIDField(default=new_id, editable=False, help_text="the same in every delivery")
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    end_user = models.ForeignKey(
        "tenants.EndUser", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    type = models.CharField(max_length=32, help_text="an EventType; a new one needs no migration")
    trace_id = models.UUIDField(null=True, blank=True)
    memory_id = models.UUIDField(null=True, blank=True)
    details = models.JSONField(default=dict, blank=True, help_text="identifiers, states and numbers, never content")
    number = models.BigIntegerField(null=True, blank=True, help_text="within the project, from 1")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("project", "number"), name="event_number_once")]
        indexes = [
            models.Index(fields=("project", "id"), condition=Q(number__isnull=True), name="event_unnumbered"),
            models.Index(fields=("end_user",), condition=Q(end_user__isnull=False), name="event_of_user"),
            models.Index(fields=("created_at",), name="event_by_time"),
        ]

    def __str__(self) -> str:
        return self.type

    @property
    def shown_id(self) -> str:
        """Return the identifier with its public prefix."""
        return show(Prefix.EVENT, self.event_id)


class Webhook(ShownRow, LeasedModel):
    """An address that is told of events of a project."""

    prefix = Prefix.WEBHOOK
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=WEBHOOK_NAME_LENGTH)
    url = models.CharField(max_length=WEBHOOK_URL_LENGTH)
    event_types = ArrayField(models.CharField(max_length=32))
    includes_content = models.BooleanField(default=False, help_text="send the sentences of active, shared memories")
    secret = EncryptedTextField(editable=False, help_text="shared with the receiver, which checks signatures with it")
    former_secret = EncryptedTextField(blank=True, default="", editable=False)
    former_secret_until = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="until then deliveries are signed with both secrets"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.CharField(max_length=160, help_text="person or key")
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.CharField(max_length=160, blank=True, help_text="person or key, or system")
    pause_reason = models.CharField(max_length=300, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True, help_text="empty once something is delivered")
    failures = models.PositiveIntegerField(default=0, help_text="in a row")
    resume_at = models.DateTimeField(default=timezone.now, help_text="the receiver is left alone until then")

    objects = LeasedQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [models.UniqueConstraint(fields=("project", "name"), name="webhook_name_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_paused(self) -> bool:
        """Return True if nothing is sent until somebody resumes it."""
        return self.paused_at is not None

    @property
    def secrets(self) -> list[str]:
        """Return the secrets to sign with: two while one replaces the other."""
        has_former = self.former_secret_until is not None and self.former_secret_until > timezone.now()
        return [self.secret, self.former_secret] if has_former else [self.secret]


class Delivery(Row):
    """A message to one recipient, with its attempts."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    state = models.CharField(max_length=16, choices=choices_of(DeliveryState), default=DeliveryState.WAITING.value)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now)
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ("-id",)

    @staticmethod
    def after_attempt(*, error: str, next_try_at: datetime, is_last: bool) -> dict[str, Any]:
        """Return the columns after an attempt: without an error it is delivered, else it waits or is given up."""
        is_over = is_last or not error
        failed = DeliveryState.FAILED if is_last else DeliveryState.WAITING
        return {
            "state": (failed if error else DeliveryState.DELIVERED).value,
            "last_error": error,
            "next_try_at": next_try_at,
            "finished_at": timezone.now() if is_over else None,
        }


class WebhookDelivery(ShownRow, Delivery):
    """One event for one webhook; a test has no event."""

    prefix = Prefix.WEBHOOK_DELIVERY
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    event = models.ForeignKey(
        ProjectEvent,
        on_delete=models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_constraint=False,  # an erasure deletes events while others get their deliveries, and then these
    )
    end_user = models.ForeignKey(
        "tenants.EndUser", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    event_type = models.CharField(max_length=32)
    number = models.BigIntegerField(default=0, help_text="that of the event")
    give_up_at = models.DateTimeField()
    response_status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="HTTP status of the last answer"
    )
    duration_ms = models.PositiveIntegerField(null=True, blank=True, help_text="of the last attempt")

    class Meta(Delivery.Meta):
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.UniqueConstraint(fields=("webhook", "event"), name="event_told_once"),
            models.CheckConstraint(condition=Q(state__in=values_of(DeliveryState)), name="event_delivery_state_known"),
        ]
        indexes = [
            models.Index(
                fields=("webhook", "number"), condition=Q(state=DeliveryState.WAITING.value), name="delivery_by_number"
            ),
            models.Index(
                fields=("webhook", "end_user", "number"),
                condition=Q(state=DeliveryState.WAITING.value),
                name="delivery_of_user_waiting",
            ),
            models.Index(fields=("webhook", "-id"), name="delivery_of_webhook"),
            models.Index(fields=("created_at",), name="delivery_by_time"),
            models.Index(
                fields=("give_up_at",), condition=Q(state=DeliveryState.WAITING.value), name="delivery_by_end"
            ),
            models.Index(fields=("event",), condition=Q(event__isnull=False), name="delivery_of_event"),
            models.Index(fields=("end_user",), condition=Q(end_user__isnull=False), name="delivery_of_user"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} to {self.webhook_id}"
