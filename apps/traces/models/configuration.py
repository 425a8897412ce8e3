"""Immutable configuration versions, and the pre-filter rules that admins edit."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row
from apps.pipeline.core.enums import Reason, Role, choices_of
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
