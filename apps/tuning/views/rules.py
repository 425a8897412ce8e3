"""Patterns: pre-filter rules with preview and test."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.forms import ProjectRuleForm, TrialForm
from apps.console.paging import paginate, query_param, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.policy import Rule
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, PreFilterRule, RulePreview
from apps.tuning.rules import (
    MOST_DAYS,
    RuleCheck,
    check_rule,
    delete_rule,
    draft_rule,
    fingerprint,
    request_preview,
    save_rule,
    try_turn,
)
from apps.tuning.selectors.rules import check_report, preview_report, rule_suggestions

DAYS = (1, 7, 30, MOST_DAYS)
_WEEK = 7


@project_page()
def patterns(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the rules with their hits, and a form to test a turn."""
    words, reason, by = (query_param(request, name) for name in ("q", "reason", "by"))
    rules = PreFilterRule.objects.filter(project=visit.project)
    reasons = sorted(set(rules.order_by().values_list("reason", flat=True)))
    if words:
        rules = rules.filter(Q(name__icontains=words) | Q(pattern__icontains=words))
    if reason in reasons:
        rules = rules.filter(reason=reason)
    if by == "hits":
        rules = rules.order_by("-hit_count", "order", "name")
    version = ConfigurationVersion.objects.filter(project=visit.project, is_active=True).defer("policy").first()
    shown: dict[str, Any] = {"page": paginate(rules, request), "version": version, "trial_form": TrialForm()}
    if visit.may_administer:
        shown["suggestions"] = rule_suggestions(project_id=visit.project.pk)
    chosen = {"words": words, "reason": reason, "reasons": reasons, "by": by}
    return render(request, "console/patterns.html", shown | chosen)


@project_page(MemberRole.ADMIN)
def rule(request: HttpRequest, visit: ProjectVisit, name: str = "") -> HttpResponse:
    """Show and save a rule; saving creates a configuration version."""
    known = get_object_or_404(PreFilterRule, project=visit.project, name=name) if name else None
    proposed, values = _PROPOSALS.get(query_param(request, "relax") if known else "", ("", {}))
    form = ProjectRuleForm(request.POST or None, instance=known, initial=values)
    context: dict[str, Any] = {"form": form, "rule": known, "days": DAYS, "trial_form": TrialForm()}
    context["proposed"] = proposed
    if request.method == "POST" and form.is_valid() and not _is_taken(form, visit, known):
        try:
            if found := _unconfirmed(request, visit, form.instance.as_rule()):
                context["found"], context["fingerprint"] = check_report(found), fingerprint(form.instance.as_rule())
            else:
                return _save(request, visit, form.instance.as_rule())
        except Refused as refused:
            form.add_error("pattern", str(refused))
    context["position"] = _position(form)
    return render(request, "console/rule.html", context, status=422 if form.errors else 200)


def _save(request: HttpRequest, visit: ProjectVisit, rule: Rule) -> HttpResponse:
    """Save a rule, or with `draft` in a draft. Raises Refused."""
    save = draft_rule if "draft" in request.POST else save_rule
    version = save(project_id=visit.project.pk, rule=rule)
    return _saved(request, visit, version, f"Rule {rule.name} saved")


def _unconfirmed(request: HttpRequest, visit: ProjectVisit, rule: Rule) -> RuleCheck | None:
    """Return the check of a rule that does harm and that was not confirmed as it stands. Raises Refused."""
    is_seen = request.POST.get("seen", "") == fingerprint(rule)
    if "draft" in request.POST or (is_seen and request.POST.get("confirmation", "").strip() == rule.name):
        return None
    found = check_rule(project_id=visit.project.pk, rule=rule)
    return found if found.needs_confirmation else None


# What a link to the editor proposes, in words and as values of the form; nothing is saved before somebody does.
_PROPOSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "answers": ("answers to questions are kept", {"unless_answering": True}),
    "off": ("the rule is off; narrow its pattern to keep it on", {"enabled": False}),
}


@require_POST
@project_page(MemberRole.ADMIN)
def switch(request: HttpRequest, visit: ProjectVisit, name: str) -> HttpResponse:
    """Enable or disable a rule."""
    known = get_object_or_404(PreFilterRule, project=visit.project, name=name).as_rule()
    switched = known.model_copy(update={"enabled": not known.enabled})
    if switched.enabled and check_rule(project_id=visit.project.pk, rule=switched).needs_confirmation:
        messages.error(request, f"Nothing was changed: rule {name} would drop what is worth keeping. Save it here.")
        return redirect("console:rule", slug=visit.project.slug, name=name)
    version = save_rule(project_id=visit.project.pk, rule=switched)
    return _saved(request, visit, version, f"Rule {name} {'enabled' if switched.enabled else 'disabled'}")


@require_POST
@project_page(MemberRole.ADMIN)
def delete(request: HttpRequest, visit: ProjectVisit, name: str) -> HttpResponse:
    """Delete a rule; older versions keep it."""
    try:
        version = delete_rule(project_id=visit.project.pk, name=name)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
        return redirect("console:patterns", slug=visit.project.slug)
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
        started = request_preview(
            project_id=visit.project.pk, rule=form.instance.as_rule(), days=days, person_id=visit.person_id
        )
    except Refused as refused:
        return render(request, "console/_preview.html", {"problem": str(refused)})
    return render(request, "console/_preview.html", {"shown": preview_report(started)})


@project_page(MemberRole.ADMIN)
def previewed(request: HttpRequest, visit: ProjectVisit, preview_id: UUID) -> HttpResponse:
    """Show the progress or the result of a preview."""
    found = get_object_or_404(RulePreview, project=visit.project, pk=preview_id)
    return render(request, "console/_preview.html", {"shown": preview_report(found)})


def _edited(request: HttpRequest, visit: ProjectVisit) -> ProjectRuleForm:
    """Return the form of the rule being edited; `editing` names a saved rule."""
    name = request.POST.get("editing", "")
    known = PreFilterRule.objects.filter(project=visit.project, name=name).first() if name else None
    return ProjectRuleForm(request.POST, instance=known)


def _is_taken(form: ProjectRuleForm, visit: ProjectVisit, known: PreFilterRule | None) -> bool:
    """Return True and add an error if a new rule has the name of another one."""
    taken = known is None and PreFilterRule.objects.filter(project=visit.project, name=form.instance.name).exists()
    if taken:
        form.add_error("name", "another rule has this name")
    return taken


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
        return redirect("console:version", slug=visit.project.slug, number=version.number)
    undo = reverse("console:restore", args=[visit.project.slug, version.base])
    messages.success(request, f"{done}: version {version.number} is active.", extra_tags=undo)
    return redirect("console:patterns", slug=visit.project.slug)
