"""The outbox: work to do after a commit, leases on end users, and heartbeats of workers."""

from enum import StrEnum

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.outbox.leased import LeasedModel, LeasedQuerySet
from apps.outbox.querysets import OutboxRowQuerySet, WorkerHeartbeatQuerySet
from apps.pipeline.core.enums import WorkKind, WorkState, choices_of, values_of


class PausedKind(StrEnum):
    """What is paused while it doesn't answer."""

    MODEL = "model"
    EMBEDDER = "embedder"


MODEL_NAME_LENGTH = 200


class OutboxRow(models.Model):
    """One piece of work to do; its payload is one identifier.

    `id` is a database sequence, so the rows of one end user are ordered as they were accepted, independent of the
    clocks of the accepting processes.
    """

    id = models.BigAutoField(primary_key=True)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=24, choices=choices_of(WorkKind))
    subject_id = models.UUIDField(help_text="the trace, memory or session that the work is about")
    session_id = models.UUIDField(null=True, blank=True, help_text="runs of one session may share a model call")
    state = models.CharField(max_length=16, choices=choices_of(WorkState), default=WorkState.PENDING.value)
    turn_count = models.SmallIntegerField(default=1, db_default=1, help_text="new turns of a pipeline run")
    attempts = models.SmallIntegerField(default=0)
    run_at = models.DateTimeField(default=timezone.now, help_text="not before this time")
    last_error = models.TextField(blank=True)
    waiting_since = models.DateTimeField(
        null=True, blank=True, help_text="since when it has waited for an unavailable model or database"
    )
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = OutboxRowQuerySet.as_manager()

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "kind", "subject_id"), name="work_once_per_subject"),
            models.CheckConstraint(
                condition=Q(kind__in=values_of(WorkKind), state__in=values_of(WorkState)), name="work_known"
            ),
        ]
        indexes = [
            # A partial index of the open rows stays small, however many rows are done.
            models.Index(
                fields=("end_user", "id"),
                condition=Q(state__in=values_of((WorkState.PENDING, WorkState.RUNNING))),
                name="work_open_of_user",
            ),
            models.Index(fields=("project",), condition=Q(state=WorkState.PENDING.value), name="work_pending"),
            models.Index(fields=("finished_at",), condition=Q(state=WorkState.DONE.value), name="work_done_by_time"),
            models.Index(fields=("project", "-id"), condition=Q(state=WorkState.DEAD.value), name="work_dead"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class UserLease(LeasedModel):
    """When an end user's work is ready, and which worker does it."""

    end_user = models.OneToOneField("tenants.EndUser", on_delete=models.PROTECT, primary_key=True, related_name="lease")
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    ready_at = models.DateTimeField(null=True, blank=True, help_text="empty when no work is open")
    waits_for = models.CharField(
        max_length=MODEL_NAME_LENGTH,
        blank=True,
        default="",
        db_default="",
        help_text="the paused model that the first work needs; it is done once the pause is over",
    )

    objects = LeasedQuerySet.as_manager()

    class Meta:
        indexes = [
            # Users that wait for one model are adjacent, so that a claim skips them however many they are.
            models.Index(
                fields=("project", "waits_for", "ready_at"), condition=Q(ready_at__isnull=False), name="lease_ready"
            ),
            # Few rows: the leases that workers hold, counted per project when work is claimed.
            models.Index(fields=("project", "leased_until"), condition=Q(lease_token__isnull=False), name="lease_held"),
        ]

    def __str__(self) -> str:
        return str(self.end_user_id)


class ModelPause(models.Model):
    """A model or embedder that does not answer a project's calls; the row is deleted when it answers again."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=MODEL_NAME_LENGTH, help_text="as the policy or the settings name it")
    kind = models.CharField(max_length=16, choices=choices_of(PausedKind))
    since = models.DateTimeField(help_text="when the first call failed")
    until = models.DateTimeField(help_text="when one call may be tried again")
    failures = models.PositiveIntegerField(default=1, help_text="failed calls, one for each try")
    error = models.TextField(blank=True, help_text="of the last try")
    may_try = False  # set where the caller that has found it may try the model

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("project", "model"), name="model_paused_once"),
            models.CheckConstraint(condition=Q(kind__in=values_of(PausedKind)), name="model_pause_kind_known"),
        ]

    def __str__(self) -> str:
        return self.model

    @property
    def reason(self) -> str:
        """Return why work waits."""
        return f"{self.model} has not answered since {self.since:%Y-%m-%d %H:%M} UTC: {self.error}"


class WorkerHeartbeat(models.Model):
    """The latest heartbeat of a process that does work."""

    worker = models.UUIDField(primary_key=True, help_text="identifies the worker process")
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    done = models.PositiveBigIntegerField(default=0)
    in_flight = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField()
    is_working = models.BooleanField(default=True, help_text="it looks for work, or does it")

    objects = WorkerHeartbeatQuerySet.as_manager()

    class Meta:
        ordering = ("-seen_at",)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"


class JobRound(LeasedModel):
    """One pass of a recurring job over everything; its position outlives the process, so that it goes on from there."""

    job = models.CharField(primary_key=True, max_length=64)
    position = models.JSONField(default=dict, help_text="up to where it is done, in the job's own terms")
    changed = models.PositiveBigIntegerField(default=0, help_text="rows so far")
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = LeasedQuerySet.as_manager()

    class Meta:
        ordering = ("job",)

    def __str__(self) -> str:
        return self.job
