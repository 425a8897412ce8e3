"""Configuration: the settings of the project and their versions."""

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
from apps.console.paging import paginate, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.selectors.settings import SettingsSection, settings_sections
from apps.pipeline.core.enums import MemberRole
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.policy_changes import policy_changes
from apps.traces.models import ConfigurationVersion


@project_page()
def configuration(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the active settings, the models in use, and all versions."""
    return _show(request, visit, _active(visit))


@require_POST
@project_page(MemberRole.ADMIN)
def change(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Create a version with the changed settings."""
    active = _active(visit)
    try:
        made = change_policy(
            project_id=visit.project.pk,
            base=whole_number(request.POST.get("base", "")) or 0,
            changes=_changed_settings(settings_sections(active.as_policy()), request),
            note=request.POST.get("note", "").strip(),
        )
    except Refused as refused:
        where = refused.at.strip("/").replace("/", " ") if isinstance(refused, Unfit) else ""
        return _show(request, visit, active, problem=f"{where}: {refused}" if where else str(refused))
    if made.number == active.number:
        messages.info(request, "Nothing was changed: no value differs.")
    else:
        undo = reverse("console:restore", args=[visit.project.slug, active.number])
        messages.success(request, f"Version {made.number} is active.", extra_tags=undo)
    return redirect("console:configuration", slug=visit.project.slug)


@project_page()
def version(request: HttpRequest, visit: ProjectVisit, number: int) -> HttpResponse:
    """Show the differences to the previous version, or to the one in the parameter `against`."""
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
@project_page(MemberRole.ADMIN)
def restore(request: HttpRequest, visit: ProjectVisit, number: int) -> HttpResponse:
    """Restore an older version as a new version."""
    try:
        made = restore_version(project_id=visit.project.pk, number=number)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = reverse("console:restore", args=[visit.project.slug, made.number - 1])
        messages.success(request, f"Version {number} was restored as version {made.number}.", extra_tags=undo)
    return redirect("console:configuration", slug=visit.project.slug)


def _active(visit: ProjectVisit) -> ConfigurationVersion:
    return get_object_or_404(ConfigurationVersion, project=visit.project, is_active=True)


def _show(request: HttpRequest, visit: ProjectVisit, active: ConfigurationVersion, problem: str = "") -> HttpResponse:
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    context = {
        "active": active,
        "sections": settings_sections(active.as_policy()),
        "versions": paginate(versions, request, size=15),
        "model": site.MODEL,
        "embedder": site.EMBEDDER,
        "problem": problem,
    }
    return render(request, "console/configuration.html", context, status=422 if problem else 200)


def _changed_settings(sections: list[SettingsSection], request: HttpRequest) -> Mapping[tuple[str, ...], Any]:
    """Return the settings whose value in the form differs. Raises Unfit if a number is expected."""
    found: dict[tuple[str, ...], Any] = {}
    for setting in (setting for section in sections for setting in section.settings):
        try:
            value = setting.read(request.POST.getlist(setting.key))
        except ValueError as error:
            raise Unfit(
                "must be JSON" if setting.kind == "json" else "must be a number", at=f"/{'/'.join(setting.path)}"
            ) from error
        if value != setting.value:
            found[setting.path] = value
    return found
