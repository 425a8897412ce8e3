"""Replays: ended traces run again under a configuration version, in memory, and how each differs from its record."""

from enum import StrEnum

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.outbox.leased import LeasedModel, LeasedQuerySet
from apps.pipeline.core.enums import choices_of, values_of
from apps.pipeline.core.identifiers import Prefix


class ReplayState(StrEnum):
    """Where a replay stands."""

    ESTIMATED = "estimated"  # waits for somebody to start it
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ReplayedState(StrEnum):
    """What became of one trace."""

    WAITING = "waiting"
    SAME = "same"
    DIFFERENT = "different"
    MISSED = "missed"  # a prompt has no recorded answer, and no live call was allowed
    FAILED = "failed"


class Replay(ShownRow, LeasedModel):
    """Traces that somebody chose, the version under which they run again, and the sum of the differences."""

    prefix = Prefix.REPLAY
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    api_key_id = models.UUIDField(null=True, blank=True)
    configuration = models.ForeignKey(
        "traces.ConfigurationVersion",
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="empty: each trace under its own version",
    )
    choice = models.JSONField(default=dict, help_text="how the traces were chosen")
    is_isolated = models.BooleanField(default=False, help_text="each trace from its own past state")
    allows_live_calls = models.BooleanField(default=False, help_text="prompts without a recorded answer are asked")
    state = models.CharField(max_length=16, choices=choices_of(ReplayState), default=ReplayState.ESTIMATED.value)
    estimate = models.JSONField(default=dict)
    traces_total = models.PositiveIntegerField(default=0)
    traces_done = models.PositiveIntegerField(default=0)
    totals = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = LeasedQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=values_of(ReplayState)), name="replay_state_known"),
        ]
        indexes = [models.Index(fields=("project", "-created_at"), name="replay_of_project")]

    @property
    def is_over(self) -> bool:
        """Return True if nothing will be done unless somebody resumes it."""
        return self.state in (ReplayState.DONE, ReplayState.CANCELLED, ReplayState.FAILED)


class ReplayedTrace(Row):
    """One trace of a replay and how it differs; the texts in it are those of the end user."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    replay = models.ForeignKey(Replay, on_delete=models.CASCADE, related_name="traces", db_index=False)
    trace = models.ForeignKey("traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False)
    position = models.PositiveIntegerField(default=0, help_text="in the order of the end user's runs")
    state = models.CharField(max_length=16, choices=choices_of(ReplayedState), default=ReplayedState.WAITING.value)
    diff = models.JSONField(default=dict, blank=True)
    totals = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ("replay", "end_user", "position")
        constraints = [
            models.UniqueConstraint(fields=("end_user", "replay", "trace"), name="replayed_once"),
            models.CheckConstraint(condition=Q(state__in=values_of(ReplayedState)), name="replayed_state_known"),
        ]
        indexes = [
            models.Index(fields=("replay", "state"), name="replayed_by_state"),
            models.Index(fields=("trace",), name="replayed_by_trace"),
        ]

    def __str__(self) -> str:
        return f"{self.trace_id}: {self.state}"
