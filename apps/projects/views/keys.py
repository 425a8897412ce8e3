"""API keys: create, show once, rotate, revoke."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.forms import KeyForm, RotationForm
from apps.console.labels import names_of
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import done_once, once, project_action, refusals_told
from apps.memories.models import LedgerEntry
from apps.projects.api_keys import CreatedKey, create_key, restore_key, revoke_key, rotate_key
from apps.tenants.enums import MemberRole
from apps.tenants.models import ApiKey

_only_once = done_once("This key was created before. Its text is shown only once.", page="keys")


@never_cache
@project_page(MemberRole.ADMIN)
@_only_once
def keys(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List keys; a new key is shown once."""
    form, created = KeyForm(request.POST or None), None
    if form.is_valid():
        try:
            created = create_key(project_id=visit.project.pk, **form.cleaned_data)
        except Refused as refused:
            form.add_error(None, str(refused))
    return _page(request, visit, KeyForm() if created else form, created)


@never_cache
@require_POST
@project_page(MemberRole.ADMIN)
@_only_once
def rotate(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> HttpResponse:
    """Replace a key by a new one, which is shown once; the former one stays valid for the chosen time."""
    rotation, created = RotationForm(request.POST), None
    if rotation.is_valid():
        with refusals_told(request):
            created = rotate_key(project_id=visit.project.pk, key_id=key_id, overlap=rotation.cleaned_data["hours"])
    else:
        messages.error(request, "Nothing was changed: choose for how long the former key stays valid.")
    return _page(request, visit, KeyForm(), created, status=200 if created else 422)


def _page(
    request: HttpRequest, visit: ProjectVisit, form: KeyForm, created: CreatedKey | None, *, status: int = 200
) -> HttpResponse:
    page = paginate(ApiKey.objects.filter(project=visit.project).order_by("-created_at"), request)
    # Acts on keys concern no end user; the index of the ledger begins with that column.
    entries = LedgerEntry.objects.filter(
        end_user=None, object_id__in=[key.pk for key in page.rows], verb="key_created", project=visit.project
    )
    actors = dict(entries.values_list("object_id", "actor"))
    names, now = names_of(actors.values()), timezone.now()
    shown = {
        "page": page,
        "keys": [
            {"key": key, "owner": names.get(actors.get(key.pk, ""), ""), "is_valid": key.is_valid(now)}
            for key in page.rows
        ],
        "form": form,
        "rotation": RotationForm(),
        "created": created,
        "once": once(),
    }
    return render(request, "console/keys.html", shown, status=422 if form.errors else status)


@project_action(page="keys", changes_archived=True)
def revoke(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> None:
    """Revoke a key immediately."""
    revoke_key(project_id=visit.project.pk, key_id=key_id)
    undo = visit.address("restore-key", key_id)
    messages.success(request, "Key revoked: requests with it are rejected from now on.", extra_tags=undo)


@project_action(page="keys", tells_absence=True)
def restore(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> None:
    """Undo a recent revocation."""
    restore_key(project_id=visit.project.pk, key_id=key_id)
    messages.success(request, "The key is valid again.")
