"""Configuration: the settings that traces run under, their versions, and the way back."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings as site
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused, Unfit
from apps.actions.projects.change_policy import change_policy
from apps.actions.projects.restore_version import restore_version
from apps.console.paging import page_of, whole_number
from apps.console.permissions import Visit, page
from apps.console.selectors.settings import Section, sections_of
from apps.pipeline.core.enums import MemberRole
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.policy_changes import policy_changes
from apps.traces.models import ConfigurationVersion


@page()
def configuration(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the active settings, what models run, and the versions so far."""
    return _show(request, visit, _active(visit))


@require_POST
@page(MemberRole.ADMIN)
def change(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Make a new version with the settings that were changed."""
    active = _active(visit)
    try:
        made = change_policy(
            project_id=visit.project.pk,
            base=whole_number(request.POST.get("base", "")) or 0,
            changes=_changed(sections_of(active.as_policy()), request),
            note=request.POST.get("note", "").strip(),
        )
    except Refused as refused:
        where = refused.at.strip("/").replace("/", " ") if isinstance(refused, Unfit) else ""
        return _show(request, visit, active, problem=f"{where}: {refused}" if where else str(refused))
    if made.number == active.number:
        messages.info(request, "Nothing was changed: all values are the same.")
    else:
        undo = reverse("console:restore", args=[visit.project.slug, active.number])
        messages.success(request, f"Version {made.number} is active.", extra_tags=undo)
    return redirect("console:configuration", slug=visit.project.slug)


@page()
def version(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Show what a version changed against the one before it, or against another that is asked for."""
    rows = ConfigurationVersion.objects.filter(project=visit.project)
    shown = get_object_or_404(rows, number=number)
    against = whole_number(request.GET.get("against", "")) or number - 1
    other = rows.filter(number=against).first()
    context = {
        "version": shown,
        "other": other,
        "changes": policy_changes(other.as_policy() if other else Policy(), shown.as_policy()),
        "active": rows.filter(is_active=True).defer("policy").first(),
    }
    return render(request, "console/version.html", context)


@require_POST
@page(MemberRole.ADMIN)
def restore(request: HttpRequest, visit: Visit, number: int) -> HttpResponse:
    """Return to a version, in a new one."""
    try:
        made = restore_version(project_id=visit.project.pk, number=number)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = reverse("console:restore", args=[visit.project.slug, made.number - 1])
        messages.success(request, f"Back to version {number}, as version {made.number}.", extra_tags=undo)
    return redirect("console:configuration", slug=visit.project.slug)


def _active(visit: Visit) -> ConfigurationVersion:
    return get_object_or_404(ConfigurationVersion, project=visit.project, is_active=True)


def _show(request: HttpRequest, visit: Visit, active: ConfigurationVersion, problem: str = "") -> HttpResponse:
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    context = {
        "active": active,
        "sections": sections_of(active.as_policy()),
        "versions": page_of(versions, request, size=15),
        "model": site.MODEL,
        "embedder": site.EMBEDDER,
        "problem": problem,
    }
    return render(request, "console/configuration.html", context, status=422 if problem else 200)


def _changed(sections: list[Section], request: HttpRequest) -> Mapping[tuple[str, ...], Any]:
    """Return the settings whose value in the form differs. Raises Unfit for no number."""
    found: dict[tuple[str, ...], Any] = {}
    for setting in (setting for section in sections for setting in section.settings):
        try:
            value = setting.read(request.POST.getlist(setting.key))
        except ValueError as error:
            raise Unfit("a number is needed", at=f"/{'/'.join(setting.path)}") from error
        if value != setting.value:
            found[setting.path] = value
    return found
