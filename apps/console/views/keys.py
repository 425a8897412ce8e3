"""API keys: create, show once, revoke."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.keys.create_key import create_key
from apps.actions.keys.restore_key import restore_key
from apps.actions.keys.revoke_key import revoke_key
from apps.console.form_repeats import is_repeated, mark_as_done, once
from apps.console.forms import KeyForm
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.enums import MemberRole, Scope
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
    rows = ApiKey.objects.filter(project=visit.project).order_by("-created_at")
    shown = {
        "page": paginate(rows, request),
        "form": KeyForm() if created else form,
        "created": created,
        "once": once(),
    }
    return render(request, "console/keys.html", shown, status=422 if form.errors else 200)


@require_POST
@project_page(MemberRole.ADMIN)
def revoke(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> HttpResponse:
    """Revoke a key immediately."""
    try:
        revoke_key(project_id=visit.project.pk, key_id=key_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = reverse("console:restore-key", args=[visit.project.slug, key_id])
        messages.success(request, "Key revoked: requests with it are rejected from now on.", extra_tags=undo)
    return redirect("console:keys", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def restore(request: HttpRequest, visit: ProjectVisit, key_id: UUID) -> HttpResponse:
    """Undo a recent revocation."""
    try:
        restore_key(project_id=visit.project.pk, key_id=key_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        messages.success(request, "The key is valid again.")
    return redirect("console:keys", slug=visit.project.slug)
