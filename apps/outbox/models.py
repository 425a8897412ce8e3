"""The outbox: work to do after a commit, leases on end users, and heartbeats of workers."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.pipeline.core.enums import WorkKind, WorkState, choices_of, values_of


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
    attempts = models.PositiveSmallIntegerField(default=0)
    run_at = models.DateTimeField(default=timezone.now, help_text="not before this time")
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "kind", "subject_id"), name="work_owed_once"),
            models.CheckConstraint(condition=Q(state__in=values_of(WorkState)), name="work_state_known"),
            models.CheckConstraint(condition=Q(kind__in=values_of(WorkKind)), name="work_kind_known"),
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


class UserLease(models.Model):
    """When an end user's work is ready, and which worker may do it until `leased_until`."""

    end_user = models.OneToOneField("tenants.EndUser", on_delete=models.PROTECT, primary_key=True, related_name="lease")
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    ready_at = models.DateTimeField(null=True, blank=True, help_text="empty when no work is open")
    leased_until = models.DateTimeField(null=True, blank=True)
    token = models.UUIDField(null=True, blank=True, help_text="identifies the holder; every write must carry it")

    class Meta:
        indexes = [
            models.Index(fields=("project", "ready_at"), condition=Q(ready_at__isnull=False), name="lease_ready"),
        ]

    def __str__(self) -> str:
        return str(self.end_user_id)


class WorkerHeartbeat(models.Model):
    """The latest heartbeat of a worker."""

    worker = models.UUIDField(primary_key=True, help_text="the token that its leases carry")
    host = models.CharField(max_length=255)
    pid = models.PositiveIntegerField()
    done = models.PositiveBigIntegerField(default=0)
    in_flight = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ("-seen_at",)

    def __str__(self) -> str:
        return f"{self.host}:{self.pid}"
