"""API keys: create, show once, rotate, revoke."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.common.errors import NotFound, Refused
from apps.console.forms import KeyForm, RotationForm
from apps.console.labels import names_of
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import is_repeated, mark_as_done, once, refusals_told
from apps.memories.models import LedgerEntry
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import CreatedKey, create_key, restore_key, revoke_key, rotate_key
from apps.tenants.enums import MemberRole
from apps.tenants.models import ApiKey


@never_cache
@project_page(MemberRole.ADMIN)
def keys(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List keys; a new key is shown once."""
    form, created = KeyForm(request.POST or None), None
    if is_repeated(request):
        messages.info(request, "This key was created before. Its text is shown only once.")
        return redirect("console:keys", slug=visit.project.slug)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        scopes = [Scope(scope) for scope in given["scopes"]]
        try:
            created = create_key(
                project_id=visit.project.pk, name=given["name"], scopes=scopes, expires_at=given["expires_at"]
            )
            mark_as_done(request)
        except Refused as refused:
            form.add_error(None, str(refused))
    return _page(request, visit, KeyForm() if created else form, created)


@never_cache
@require_POST
@project_page(MemberRole.ADMIN)
def rotate(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> HttpResponse:
    """Replace a key by a new one, which is shown once; the former one stays valid for the chosen time."""
    rotation, created = RotationForm(request.POST), None
    if is_repeated(request):
        messages.info(request, "This key was created before. Its text is shown only once.")
        return redirect("console:keys", slug=visit.project.slug)
    if rotation.is_valid():
        try:
            created = rotate_key(project_id=visit.project.pk, key_id=key_id, overlap=rotation.cleaned_data["hours"])
            mark_as_done(request)
        except NotFound as absent:
            raise Http404(str(absent)) from absent
        except Refused as refused:
            messages.error(request, f"Nothing was changed: {refused}.")
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


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def revoke(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> HttpResponse:
    """Revoke a key immediately."""
    with refusals_told(request):
        revoke_key(project_id=visit.project.pk, key_id=key_id)
        undo = reverse("console:restore-key", args=[visit.project.slug, key_id])
        messages.success(request, "Key revoked: requests with it are rejected from now on.", extra_tags=undo)
    return redirect("console:keys", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def restore(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> HttpResponse:
    """Undo a recent revocation."""
    try:
        restore_key(project_id=visit.project.pk, key_id=key_id)
        messages.success(request, "The key is valid again.")
    except Refused as refused:  # also where nothing can be restored any more
        messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:keys", slug=visit.project.slug)
