"""Immutable configuration versions, the pre-filter rules that admins edit, and previews of such rules."""

from datetime import datetime, timedelta
from enum import StrEnum

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row
from apps.pipeline.core.enums import Reason, Role, choices_of, values_of
from apps.pipeline.core.policy import Policy, Rule


def reason_choices() -> list[tuple[str, str]]:
    """Return the choices of a rule's reason; migrations refer to this function, so a new reason needs none."""
    return choices_of(Reason)


class ConfigurationVersion(Row):
    """One immutable version of a project's policy; every trace refers to the version that it used."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="configurations")
    number = models.PositiveIntegerField()
    policy = models.JSONField()
    note = models.CharField(max_length=255, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    base = models.PositiveIntegerField(null=True, blank=True, help_text="number of the version that it was made from")
    made_with = models.JSONField(
        default=dict, blank=True, help_text="model, embedder and prompts of the server when it was made"
    )
    is_active = models.BooleanField(default=False)
    activated_at = models.DateTimeField(null=True, blank=True, help_text="empty: a draft, which was never active")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-number",)
        constraints = [
            models.UniqueConstraint(fields=("project", "number"), name="configuration_number_once"),
            models.UniqueConstraint(fields=("project",), condition=Q(is_active=True), name="configuration_one_active"),
        ]

    def __str__(self) -> str:
        return f"version {self.number}"

    @property
    def is_draft(self) -> bool:
        """Return True if it was never active."""
        return self.activated_at is None

    def as_policy(self) -> Policy:
        """Return the policy as the pipeline's value."""
        return Policy.model_validate(self.policy)


class PreFilterRule(Row):
    """A rule of the pre-filter as an admin edits it; saving one creates a new configuration version."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="pre_filter_rules")
    name = models.SlugField(max_length=64)
    reason = models.CharField(max_length=32, choices=reason_choices)
    pattern = models.TextField(max_length=2_000, help_text="RE2 syntax, matched against the folded turn")
    phrase = models.BooleanField(default=False, help_text="a phrase: rejects turns that consist of nothing else")
    roles = ArrayField(models.CharField(max_length=16, choices=choices_of(Role)), default=list)
    languages = ArrayField(models.CharField(max_length=8), default=list, blank=True)
    enabled = models.BooleanField(default=True)
    order = models.IntegerField(default=100)
    unless_answering = models.BooleanField(
        default=False, help_text="does not apply when the previous turn asked a question"
    )
    hit_count = models.BigIntegerField(default=0, editable=False)
    last_hit_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = "pre-filter rule"
        ordering = ("order", "name")
        constraints = [models.UniqueConstraint(fields=("project", "name"), name="rule_name_once")]

    def __str__(self) -> str:
        return self.name

    def as_rule(self) -> Rule:
        """Return the rule as the pipeline's value."""
        return Rule.model_validate({name: getattr(self, name) for name in Rule.model_fields})


class PreviewState(StrEnum):
    """The state of a preview."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


LOST_AFTER = timedelta(minutes=5)  # a preview takes two at most


class RulePreview(Row):
    """A preview that an admin asked for; it refers to turns by id, so that erased text does not survive here."""

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
