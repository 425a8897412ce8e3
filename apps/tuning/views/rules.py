"""Patterns: pre-filter rules with preview and test."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import django_filters
from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.filters import ProjectFilter, search_filter
from apps.console.forms import ProjectRuleForm, TrialForm
from apps.console.generic import ProjectListView
from apps.console.labels import label
from apps.console.paging import whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import project_action
from apps.memories.models import Memory
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, PreFilterRule, Turn
from apps.tuning.rules import (
    MOST_DAYS,
    PREVIEWED_TURNS,
    TurnChange,
    delete_rule,
    fingerprint,
    save_rule,
    try_rule,
    try_turn,
)

DAYS = (1, 7, 30, MOST_DAYS)
_WEEK = 7


def _reasons() -> list[tuple[str, str]]:
    found = PreFilterRule.objects.order_by("reason").values_list("reason", flat=True).distinct()
    return [(reason, label(reason)) for reason in found]


class RuleFilter(ProjectFilter):
    """Rules by words and reason, in order or those with most hits first."""

    q = search_filter("Name or pattern", method="of_words")
    reason = django_filters.ChoiceFilter(
        label="", choices=_reasons, empty_label="all reasons", widget=forms.Select(attrs={"aria-label": "Reason"})
    )
    by = django_filters.ChoiceFilter(
        label="",
        choices=[("hits", "most hits first")],
        empty_label="by order",
        widget=forms.Select(attrs={"aria-label": "Order"}),
        method="by_hits",
    )

    def of_words(self, rows: QuerySet[PreFilterRule], name: str, value: str) -> QuerySet[PreFilterRule]:
        """Keep rules with these characters in the name or in the pattern."""
        return rows.filter(Q(name__icontains=value) | Q(pattern__icontains=value))

    def by_hits(self, rows: QuerySet[PreFilterRule], name: str, value: str) -> QuerySet[PreFilterRule]:
        """Put rules with most hits first."""
        return rows.order_by("-hit_count", "order", "name")


def _list_parameters(request: HttpRequest) -> dict[str, str]:
    """Return the search, filters and page of the list, which it keeps when a rule is switched."""
    return {name: request.GET[name] for name in (*RuleFilter.base_filters, "page") if request.GET.get(name)}


class RuleListView(ProjectListView):
    """List the rules with their hits, and a form to test a turn."""

    template_name = "console/patterns.html"
    model = PreFilterRule
    filterset_class = RuleFilter

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the version of these rules."""
        shown = super().get_context_data(**context) | {"trial_form": TrialForm()}
        versions = ConfigurationVersion.objects.filter(project=self.visit.project, is_active=True).defer("policy")
        query = urlencode(_list_parameters(self.request))
        return shown | {"version": versions.first(), "query": f"?{query}" if query else ""}


@project_page(MemberRole.ADMIN)
def rule(request: HttpRequest, visit: ProjectVisit, name: str = "") -> HttpResponse:
    """Show and save a rule; saving creates a configuration version."""
    rules = PreFilterRule.objects.filter(project=visit.project)
    known = get_object_or_404(rules, name=name) if name else None
    form = ProjectRuleForm(request.POST or None, instance=known)
    context: dict[str, Any] = {"form": form, "rule": known, "days": DAYS, "trial_form": TrialForm()}
    if form.is_valid() and known is None and rules.filter(name=form.instance.name).exists():
        form.add_error("name", "another rule has this name")
    if form.is_valid():
        try:
            edited, is_draft = form.instance.as_rule(), "draft" in request.POST
            is_seen = request.POST.get("seen", "") == fingerprint(edited)
            # A rule that does harm is confirmed by its name, as it stands.
            is_confirmed = is_seen and request.POST.get("confirmation", "").strip() == edited.name
            tried = None if is_draft or is_confirmed else try_rule(project_id=visit.project.pk, rule=edited)
            if tried is not None and tried.needs_confirmation:
                context |= {"check": tried, "examples": _examples(tried.dropped[:MOST_HARMED])}
                context["fingerprint"] = fingerprint(edited)
            else:
                version = save_rule(project_id=visit.project.pk, rule=edited, as_draft=is_draft)
                return _saved(request, visit, version, f"Rule {edited.name} saved")
        except Refused as refused:
            form.add_error("pattern", str(refused))
    context["position"] = _position(form)
    return render(request, "console/rule.html", context, status=422 if form.errors else 200)


@project_action(page="patterns")
def switch(request: HttpRequest, visit: ProjectVisit, name: str) -> HttpResponse:
    """Enable or disable a rule."""
    known = get_object_or_404(PreFilterRule, project=visit.project, name=name).as_rule()
    switched = known.model_copy(update={"enabled": not known.enabled})
    if switched.enabled and try_rule(project_id=visit.project.pk, rule=switched).needs_confirmation:
        messages.error(request, f"Nothing was changed: rule {name} would drop what is worth keeping. Save it here.")
        return redirect(visit.address("rule", name))
    done = "switched on" if switched.enabled else "switched off"
    version = save_rule(project_id=visit.project.pk, rule=switched, done=done)
    return _saved(request, visit, version, f"Rule {name} {done}")


@project_action(page="patterns", tells_absence=True)
def delete(request: HttpRequest, visit: ProjectVisit, name: str) -> HttpResponse:
    """Delete a rule; older versions keep it."""
    version = delete_rule(project_id=visit.project.pk, name=name)
    return _saved(request, visit, version, f"Rule {name} deleted")


@require_POST
@project_page()
def trial(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Test what the pre-filter does with a turn; in the editor, with the unsaved rule."""
    form = TrialForm(request.POST)
    edited = _edited(request, visit) if "pattern" in request.POST else None
    if not form.is_valid() or (edited is not None and not edited.is_valid()):
        return render(request, "console/_trial.html", {"problems": [form.errors, edited.errors if edited else {}]})
    given: dict[str, Any] = form.cleaned_data
    try:
        result = try_turn(
            project_id=visit.project.pk,
            content=given["content"],
            role=given["role"],
            before=given["before"],
            rule=edited.instance.as_rule() if edited else None,
        )
    except Refused as refused:
        return render(request, "console/_trial.html", {"problem": str(refused)})
    return render(request, "console/_trial.html", {"result": result})


@require_POST
@project_page(MemberRole.ADMIN)
def preview(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Preview the unsaved rule on the turns of the last days."""
    form = _edited(request, visit)
    if not form.is_valid():
        return render(request, "console/_preview.html", {"form": form, "position": _position(form)})
    days = whole_number(request.POST.get("days", "")) or _WEEK
    try:
        tried = try_rule(project_id=visit.project.pk, rule=form.instance.as_rule(), days=days)
    except Refused as refused:
        return render(request, "console/_preview.html", {"problem": str(refused)})
    harmless = [change for change in tried.dropped if not change.lost]
    kinds = {"harmful": tried.harmful, "dropped": harmless, "kept": tried.kept}
    context = {
        "preview": tried,
        "days": days,
        "is_partial": tried.turns >= PREVIEWED_TURNS,
        "examples": {kind: _examples(found[:MOST_EXAMPLES]) for kind, found in kinds.items() if found},
    }
    return render(request, "console/_preview.html", context)


def _edited(request: HttpRequest, visit: ProjectVisit) -> ProjectRuleForm:
    """Return the form of the rule being edited; `editing` names a saved rule."""
    name = request.POST.get("editing", "")
    known = PreFilterRule.objects.filter(project=visit.project, name=name).first() if name else None
    return ProjectRuleForm(request.POST, instance=known)


def _position(form: ProjectRuleForm) -> dict[str, str] | None:
    """Return the pattern split at the position of its RE2 error; None without an error."""
    pattern = form.data.get("pattern", "") if form.is_bound else ""
    try:
        check_pattern(pattern or "x")
    except PatternRefused as refused:
        if refused.position is not None:
            return {"before": pattern[: refused.position], "after": pattern[refused.position :]}
    return None


def _saved(request: HttpRequest, visit: ProjectVisit, version: ConfigurationVersion, done: str) -> HttpResponse:
    """Redirect to the list with a message and its undo."""
    if version.is_draft:
        messages.success(request, f"{done} in draft {version.number}, which decides nothing until it is activated.")
        return redirect(visit.address("version", version.number))
    undo = visit.address("restore", version.base)
    messages.success(request, f"{done}: version {version.number} is active.", extra_tags=undo)
    return redirect(visit.address("patterns", **_list_parameters(request)))


MOST_HARMED = 12  # examples of a check
MOST_EXAMPLES = 60  # of each kind in a preview


def _examples(changes: Sequence[TurnChange]) -> list[dict[str, Any]]:
    """Return the turns of changes with the accepted memories that they became (two queries)."""
    users = {change.end_user_id for change in changes}
    rows = Turn.objects.select_related("end_user").filter(end_user_id__in=users)
    turns = rows.filter(pk__in=[change.turn_id for change in changes]).in_bulk()
    ids = [memory for change in changes for memory in change.lost]
    known = Memory.objects.filter(end_user_id__in=users, pk__in=ids).in_bulk()
    return [
        {
            "turn": turns[change.turn_id],
            "before": change.before,
            "memories": [known[each] for each in change.lost if each in known],
        }
        for change in changes
        if change.turn_id in turns
    ]
