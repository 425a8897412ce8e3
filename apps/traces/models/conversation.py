"""Sessions and turns, as they were accepted, and requests that are executed once however often they are sent."""

from dataclasses import fields

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.pipeline.core.enums import Role, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.turn import SourceTurn

TURN_COLUMNS = tuple(each.name for each in fields(SourceTurn))  # each has the name of its field


class Session(models.Model):
    """One conversation of an end user; `id` is derived from the end user and `external_id`."""

    id = models.UUIDField(primary_key=True, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="sessions", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    external_id = models.CharField(max_length=255, help_text="session_id in the API, chosen by the client")
    turn_count = models.PositiveIntegerField(default=0)
    # Turns before this position have been through session-level extraction.
    summarised_until = models.PositiveIntegerField(default=0, db_default=0)
    started_at = models.DateTimeField(default=timezone.now)
    last_turn_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-last_turn_at",)
        indexes = [
            models.Index(fields=("end_user", "-last_turn_at"), name="session_of_user_by_time"),
            models.Index(fields=("last_turn_at",), condition=Q(ended_at__isnull=True), name="session_open_by_time"),
        ]

    def __str__(self) -> str:
        return self.external_id


class Turn(ShownRow):
    """One message of a session; its text never changes."""

    prefix = Prefix.TURN
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    session = models.ForeignKey(Session, on_delete=models.PROTECT, related_name="turns", db_index=False)
    trace = models.ForeignKey("traces.Trace", on_delete=models.PROTECT, related_name="turns", db_index=False)
    position = models.IntegerField(help_text="position within the session, from 0")
    external_id = models.CharField(max_length=255, blank=True, help_text="turn_id in the API")
    role = models.CharField(max_length=16, choices=choices_of(Role))
    speaker = models.CharField(max_length=120, blank=True)
    content = models.TextField()
    occurred_at = models.DateTimeField(null=True, blank=True)
    utc_offset = models.SmallIntegerField(
        default=0, db_default=0, help_text="offset of occurred_at from UTC, in minutes east"
    )
    received_at = models.DateTimeField(default=timezone.now)
    # The decision of pre_filter: empty where the turn passed.
    rejected_for = models.CharField(max_length=96, blank=True)
    rejected_by = models.CharField(max_length=64, blank=True, help_text="the rule's name")
    hit_counted = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="whether the hits of its rule include this turn"
    )
    withdrawn = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="its trace was rolled back: it counts as never said"
    )

    class Meta:
        ordering = ("session", "position")
        constraints = [
            models.UniqueConstraint(fields=("end_user", "session", "position"), name="turn_position_once"),
            models.CheckConstraint(condition=Q(role__in=values_of(Role)), name="turn_role_known"),
        ]
        indexes = [
            models.Index(fields=("end_user", "trace"), name="turn_of_trace"),
            models.Index(fields=("session",), name="turn_by_session"),
            models.Index(fields=("trace",), name="turn_by_trace"),
            models.Index(
                fields=("end_user", "session", "external_id"), condition=~Q(external_id=""), name="turn_by_external_id"
            ),
            # Holds only turns whose hits are not counted yet, so counting stays cheap.
            models.Index(
                fields=("received_at",), condition=Q(hit_counted=False) & ~Q(rejected_by=""), name="turn_hit_uncounted"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"

    def as_source(self) -> SourceTurn:
        """Return the turn as the pipeline's value."""
        values = {name: getattr(self, name) for name in TURN_COLUMNS}
        return SourceTurn(**{**values, "role": Role(self.role)})


class IdempotentRequest(Row):
    """The fingerprint of a request with an Idempotency-Key, and its answer."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    end_user_id = models.UUIDField(null=True, help_text="whom the request names; the answer is erased with the user")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="hash of method, path and body")
    answer_status = models.PositiveSmallIntegerField(null=True, help_text="empty while the request is running")
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("project", "key"), name="idempotency_key_once"),
            models.CheckConstraint(
                condition=Q(answer_status__isnull=True) | Q(answer__isnull=False), name="idempotency_answer_complete"
            ),
        ]

        indexes = [
            models.Index(fields=("end_user_id",), condition=Q(end_user_id__isnull=False), name="idempotency_of_user")
        ]

    def __str__(self) -> str:
        return self.key
