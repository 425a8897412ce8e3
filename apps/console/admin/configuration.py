"""Admin of configuration versions and pre-filter rules."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.actions.rules.delete_rule import delete_rule
from apps.actions.rules.save_rule import save_rule
from apps.console.admin.base import BaseAdmin, ReadOnlyAdmin
from apps.console.admin.cells import json_column, truncated_column
from apps.console.admin.rule_form import PreFilterRuleForm
from apps.pipeline.core.identifiers import Prefix
from apps.traces.models import ConfigurationVersion, PreFilterRule


@admin.register(ConfigurationVersion)
class ConfigurationVersionAdmin(ReadOnlyAdmin):
    """Versions of the settings; saving a rule creates the next version."""

    prefix = Prefix.CONFIGURATION
    console_page = "version"
    list_display = ("__str__", "project", "is_active", "note", "author", "created_at")
    list_filter = ("is_active", "project")
    list_select_related = ("project", "author")
    search_fields = ("note", "project__name")
    date_hierarchy = "created_at"
    fields = (
        *("number", "project", "is_active", "base", "note", "author", "created_at", "activated_at"),
        *(json_column("made_with"), json_column("policy")),
    )
    readonly_fields = fields

    def console_arguments(self, obj: ConfigurationVersion) -> tuple[int]:
        """Return the number."""
        return (obj.number,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConfigurationVersion]:
        """Don't load the policy, which contains every rule."""
        versions: QuerySet[ConfigurationVersion] = super().get_queryset(request)
        return versions.defer("policy")


@admin.register(PreFilterRule)
class PreFilterRuleAdmin(BaseAdmin):
    """Pre-filter rules; each save creates a configuration version."""

    form = PreFilterRuleForm
    console_page = "rule"
    list_display = (
        "name",
        "project",
        "enabled",
        "reason",
        truncated_column("pattern", 60),
        "phrase",
        "order",
        "hit_count",
    )
    list_filter = ("enabled", "reason", "phrase", "project")
    list_select_related = ("project",)
    search_fields = ("name", "pattern")
    ordering = ("project", "order", "name")
    fieldsets = (
        (None, {"fields": ("project", "name", "reason", "enabled", "order")}),
        ("What it drops", {"fields": ("pattern", "phrase", "unless_answering", "roles", "languages")}),
        ("Use", {"fields": ("hit_count", "last_hit_at")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: PreFilterRule | None = None) -> Any:
        """Make project and name read-only: they identify the rule."""
        counted = ("hit_count", "last_hit_at")
        return ("project", "name", *counted) if obj else counted

    def save_model(self, request: HttpRequest, obj: PreFilterRule, form: forms.ModelForm, change: bool) -> None:
        """Save the rule in a new configuration version."""
        save_rule(project_id=obj.project_id, rule=obj.as_rule())
        obj.pk = PreFilterRule.objects.values_list("pk", flat=True).get(project_id=obj.project_id, name=obj.name)

    def delete_model(self, request: HttpRequest, obj: PreFilterRule) -> None:
        """Delete the rule in a new configuration version."""
        delete_rule(project_id=obj.project_id, name=obj.name)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[PreFilterRule]) -> None:
        """Delete rules one by one, so that each deletion has its own version."""
        for rule in queryset:
            delete_rule(project_id=rule.project_id, name=rule.name)

    def console_arguments(self, obj: PreFilterRule) -> tuple[str]:
        """Return the name."""
        return (obj.name,)
