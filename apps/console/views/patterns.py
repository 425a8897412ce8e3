"""Patterns: the rules of the pre-filter, tried before they are saved."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.rules.delete_rule import delete_rule
from apps.actions.rules.request_preview import MOST_DAYS, request_preview
from apps.actions.rules.save_rule import save_rule
from apps.actions.rules.try_turn import try_turn
from apps.console.asked import asked
from apps.console.forms import RuleForm, TrialForm
from apps.console.paging import page_of, whole_number
from apps.console.permissions import Visit, page
from apps.console.selectors.previews import shown_preview
from apps.pipeline.core.enums import MemberRole
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.traces.models import ConfigurationVersion, PreFilterRule, RulePreview

DAYS = (1, 7, 30, MOST_DAYS)
_WEEK = 7


@page()
def patterns(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List the rules in their order, with their hits, and a box to try a turn on them."""
    words, reason, by = (asked(request, name) for name in ("q", "reason", "by"))
    rules = PreFilterRule.objects.filter(project=visit.project)
    reasons = sorted(set(rules.order_by().values_list("reason", flat=True)))
    if words:
        rules = rules.filter(Q(name__icontains=words) | Q(pattern__icontains=words))
    if reason in reasons:
        rules = rules.filter(reason=reason)
    if by == "hits":
        rules = rules.order_by("-hit_count", "order", "name")
    version = ConfigurationVersion.objects.filter(project=visit.project, is_active=True).defer("policy").first()
    shown = {"page": page_of(rules, request), "version": version, "trial_form": TrialForm()}
    chosen = {"words": words, "reason": reason, "reasons": reasons, "by": by}
    return render(request, "console/patterns.html", shown | chosen)


@page(MemberRole.ADMIN)
def rule(request: HttpRequest, visit: Visit, name: str = "") -> HttpResponse:
    """Show one rule, or a new one, and save it in a new version."""
    known = get_object_or_404(PreFilterRule, project=visit.project, name=name) if name else None
    form = RuleForm(request.POST or None, instance=known)
    if request.method == "POST" and form.is_valid() and not _is_taken(form, visit, known):
        try:
            version = save_rule(project_id=visit.project.pk, rule=form.instance.as_rule())
        except Refused as refused:
            form.add_error("pattern", str(refused))
        else:
            return _saved(request, visit, version, f"Rule {form.instance.name} saved")
    context = {"form": form, "rule": known, "days": DAYS, "trial_form": TrialForm(), "position": _position(form)}
    return render(request, "console/rule.html", context, status=422 if form.errors else 200)


@require_POST
@page(MemberRole.ADMIN)
def switch(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    """Switch a rule on or off."""
    known = get_object_or_404(PreFilterRule, project=visit.project, name=name).as_rule()
    switched = known.model_copy(update={"enabled": not known.enabled})
    version = save_rule(project_id=visit.project.pk, rule=switched)
    return _saved(request, visit, version, f"Rule {name} switched {'on' if switched.enabled else 'off'}")


@require_POST
@page(MemberRole.ADMIN)
def delete(request: HttpRequest, visit: Visit, name: str) -> HttpResponse:
    """Delete a rule; earlier versions keep it."""
    try:
        version = delete_rule(project_id=visit.project.pk, name=name)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
        return redirect("console:patterns", slug=visit.project.slug)
    return _saved(request, visit, version, f"Rule {name} deleted")


@require_POST
@page()
def trial(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Tell what becomes of a turn, and by which rule; within the editor, with the rule as it stands there."""
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
@page(MemberRole.ADMIN)
def preview(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Try the rule as it stands in the editor on the turns of the last days."""
    form = _edited(request, visit)
    if not form.is_valid():
        return render(request, "console/_preview.html", {"form": form, "position": _position(form)})
    days = whole_number(request.POST.get("days", "")) or _WEEK
    try:
        asked = request_preview(
            project_id=visit.project.pk, rule=form.instance.as_rule(), days=days, person_id=visit.person_id
        )
    except Refused as refused:
        return render(request, "console/_preview.html", {"problem": str(refused)})
    return render(request, "console/_preview.html", {"shown": shown_preview(asked)})


@page(MemberRole.ADMIN)
def previewed(request: HttpRequest, visit: Visit, preview_id: UUID) -> HttpResponse:
    """Show how far a preview is, or what it found."""
    asked = get_object_or_404(RulePreview, project=visit.project, pk=preview_id)
    return render(request, "console/_preview.html", {"shown": shown_preview(asked)})


def _edited(request: HttpRequest, visit: Visit) -> RuleForm:
    """Return the form of the rule that is being edited; a saved one is known by its name."""
    name = request.POST.get("editing", "")
    known = PreFilterRule.objects.filter(project=visit.project, name=name).first() if name else None
    return RuleForm(request.POST, instance=known)


def _is_taken(form: RuleForm, visit: Visit, known: PreFilterRule | None) -> bool:
    """Tell whether a new rule would silently take another one's place."""
    taken = known is None and PreFilterRule.objects.filter(project=visit.project, name=form.instance.name).exists()
    if taken:
        form.add_error("name", "another rule has this name")
    return taken


def _position(form: RuleForm) -> dict[str, str] | None:
    """Return the pattern cut at the place that RE2 complains of; None where it doesn't."""
    pattern = form.data.get("pattern", "") if form.is_bound else ""
    try:
        check_pattern(pattern or "x")
    except PatternRefused as refused:
        if refused.position is not None:
            return {"before": pattern[: refused.position], "after": pattern[refused.position :]}
    return None


def _saved(request: HttpRequest, visit: Visit, version: ConfigurationVersion, done: str) -> HttpResponse:
    """Go back to the list and say what was done, with the way back."""
    undo = reverse("console:restore", args=[visit.project.slug, version.number - 1])
    messages.success(request, f"{done}: version {version.number} is active.", extra_tags=undo)
    return redirect("console:patterns", slug=visit.project.slug)
