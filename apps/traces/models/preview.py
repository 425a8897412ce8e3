"""Previews of pre-filter rules: the effect of a rule on recent turns, computed before the rule is saved."""

from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.pipeline.core.enums import choices_of, values_of
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Rule


class PreviewState(StrEnum):
    """The state of a preview."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


LOST_AFTER = timedelta(minutes=5)  # a preview takes two at most


class RulePreview(models.Model):
    """A preview that an admin asked for; it refers to turns by id, so that erased text does not survive here."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    rule = models.JSONField()
    days = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=16, choices=choices_of(PreviewState), default=PreviewState.WAITING.value)
    turns_total = models.PositiveIntegerField(default=0)
    turns_done = models.PositiveIntegerField(default=0)
    newly_dropped = models.PositiveIntegerField(default=0)
    newly_kept = models.PositiveIntegerField(default=0)
    # The newly dropped turns that had produced accepted memories, and the memories of all of them by their fate.
    harmful = models.PositiveIntegerField(default=0)
    memories_lost = models.PositiveIntegerField(default=0)
    memories_waiting = models.PositiveIntegerField(default=0)
    memories_rejected = models.PositiveIntegerField(default=0)
    examples = models.JSONField(default=list, help_text="[{end_user, turn, change, before, after, memories}]")
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(condition=Q(state__in=values_of(PreviewState)), name="preview_state_known"),
        ]

    def __str__(self) -> str:
        return f"{self.rule['name']} on {self.days} days"

    def as_rule(self) -> Rule:
        """Return the previewed rule as the pipeline's value."""
        return Rule.model_validate(self.rule)

    @property
    def since(self) -> datetime:
        """Return the time from which turns are tried."""
        return self.created_at - timedelta(days=self.days)

    @property
    def is_over(self) -> bool:
        """Return True if the preview is done or has failed."""
        return self.state in (PreviewState.DONE, PreviewState.FAILED)

    @property
    def is_lost(self) -> bool:
        """Return True if it will never finish because its worker was stopped."""
        return not self.is_over and self.created_at < timezone.now() - LOST_AFTER

    @property
    def is_partial(self) -> bool:
        """Return True if the time limit was reached before all turns were tested."""
        return self.is_over and self.turns_done < self.turns_total
