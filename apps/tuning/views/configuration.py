"""Settings and their versions."""

from typing import Any

from django.conf import settings as site
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import Conflict, Refused
from apps.console.generic import ProjectDetailView
from apps.console.paging import paginate, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import project_action
from apps.intake.read_again import sessions_to_read
from apps.pipeline.core.policy import Policy
from apps.projects.services import (
    Preset,
    activate_version,
    change_policy,
    policy_changes,
    preset_values,
    restore_version,
    save_draft,
)
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, Replay
from apps.tuning.forms import SettingsForm, in_words

MOST_REPLAYS = 10  # that the page of a version lists
_RULES = "pre_filter.rules."  # how the names of changed rules begin


@project_page()
def configuration(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the active settings, or those of the version in the parameter `edit`, and all versions."""
    edited = whole_number(request.GET.get("edit", ""))
    shown = _active(visit) if edited is None else _version(visit, edited)
    return _show(request, visit, shown, SettingsForm(shown.as_policy(), is_read_only=not visit.may_administer))


@project_action(page="configuration")
def change(request: HttpRequest, visit: ProjectVisit) -> HttpResponse | None:
    """Create a version with the changed settings: active, or with `draft` one that is not."""
    shown = _version(visit, whole_number(request.POST.get("base", "")) or 0)
    as_draft = "draft" in request.POST
    form = SettingsForm(shown.as_policy(), request.POST)
    if not form.is_valid():
        return _show(request, visit, shown, form)
    changed, note = form.changes(), request.POST.get("note", "").strip()
    try:
        save = save_draft if as_draft else change_policy
        made = save(project_id=visit.project.pk, base=shown.number, changes=changed, note=note)
    except Conflict as conflict:
        active = _active(visit)
        problem = f"{conflict}. Your changes stand below, on version {active.number}: look at them and save again."
        again = SettingsForm(active.as_policy(), initial={".".join(path): value for path, value in changed.items()})
        return _show(request, visit, active, again, problem=problem)
    except Refused as refused:
        form.refuse(refused)
        return _show(request, visit, shown, form)
    if made.number == shown.number:
        messages.info(request, "Nothing was changed: no value differs.")
    elif as_draft:
        return _drafted(request, visit, made)
    else:
        undo = visit.address("restore", shown.number)
        messages.success(request, f"Version {made.number} is active.", extra_tags=undo)
    return None


@require_POST
@project_page(MemberRole.ADMIN)
def changes(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what the form would change, before it is saved."""
    shown = _version(visit, whole_number(request.POST.get("base", "")) or 0)
    form = SettingsForm(shown.as_policy(), request.POST)
    changed = form.changes() if form.is_valid() else {}
    found = [
        {
            "section": section.name,
            "setting": each,
            "before": in_words(each.value),
            "after": in_words(changed[each.path]),
        }
        for section in form.sections()
        for each in section.settings
        if each.path in changed
    ]
    context = {"changes": found, "is_asked": True, "problem": form.problem}
    return render(request, "console/_setting_changes.html", context)


@project_action(page="configuration")
def draft_preset(request: HttpRequest, visit: ProjectVisit, preset: str) -> HttpResponse | None:
    """Make a draft of the active version with the values of a preset."""
    if preset not in set(Preset):
        raise Http404("no such preset")
    active = _active(visit)
    made = save_draft(
        project_id=visit.project.pk,
        base=active.number,
        changes=preset_values(Preset(preset)),
        note=f"preset {preset}",
    )
    if made.number == active.number:
        messages.info(request, f"The active version has the values of {preset} already.")
        return None
    return _drafted(request, visit, made)


@project_action(page="version", row="number")
def activate(request: HttpRequest, visit: ProjectVisit, number: int) -> HttpResponse:
    """Activate a draft in place of the version in `seen`."""
    seen = whole_number(request.POST.get("seen", "")) or 0
    activate_version(project_id=visit.project.pk, number=number, seen=seen)
    messages.success(request, f"Version {number} is active.", extra_tags=visit.address("restore", seen))
    return redirect(visit.address("configuration"))


class VersionDetailView(ProjectDetailView):
    """Show the differences to the previous version, or to the one in the parameter `against`."""

    template_name = "console/version.html"
    queryset = ConfigurationVersion.objects.select_related("author")
    slug_field = slug_url_kwarg = "number"
    context_object_name = "version"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add what differs, and the replays under the version."""
        shown, rows = self.object, ConfigurationVersion.objects.filter(project=self.visit.project)
        against = whole_number(self.request.GET.get("against", "")) or shown.base or shown.number - 1
        other = rows.filter(number=against).first()
        changes = policy_changes(other.as_policy() if other else Policy(), shown.as_policy())
        return super().get_context_data(**context) | {
            "other": other,
            "changes": [change for change in changes if not change.name.startswith(_RULES)],
            "rules": [change for change in changes if change.name.startswith(_RULES)],
            "replays": Replay.objects.filter(configuration=shown)[:MOST_REPLAYS],
            "active": rows.filter(is_active=True).defer("policy").first(),
        }


@project_action(page="configuration")
def restore(request: HttpRequest, visit: ProjectVisit, number: int) -> None:
    """Restore an older version as a new version."""
    made = restore_version(project_id=visit.project.pk, number=number)
    undo = visit.address("restore", made.base)
    messages.success(request, f"Version {number} was restored as version {made.number}.", extra_tags=undo)


def _drafted(request: HttpRequest, visit: ProjectVisit, made: ConfigurationVersion) -> HttpResponse:
    messages.success(request, f"Version {made.number} is a draft: it decides nothing until it is activated.")
    return redirect(visit.address("version", made.number))


def _version(visit: ProjectVisit, number: int) -> ConfigurationVersion:
    return get_object_or_404(ConfigurationVersion, project=visit.project, number=number)


def _active(visit: ProjectVisit) -> ConfigurationVersion:
    return get_object_or_404(ConfigurationVersion, project=visit.project, is_active=True)


def _show(
    request: HttpRequest, visit: ProjectVisit, active: ConfigurationVersion, form: SettingsForm, *, problem: str = ""
) -> HttpResponse:
    versions = ConfigurationVersion.objects.filter(project=visit.project).select_related("author").defer("policy")
    sections = form.sections()
    opened = request.GET.get("section", "")
    problem = problem or form.problem
    context = {
        "active": active,
        "presets": [preset.value for preset in Preset],
        "sections": sections,
        "opened": opened,
        "opens_expert": any(each.is_refused or each.name == opened for each in sections[1:]),
        "note": request.POST.get("note", ""),
        "versions": paginate(versions, request, size=15),
        "model": site.MODEL,
        "embedder": site.EMBEDDER,
        "problem": problem,
        "reading": sessions_to_read(visit.project.pk),
    }
    return render(request, "console/configuration.html", context, status=422 if problem else 200)
