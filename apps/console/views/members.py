"""Members: who belongs to the project, in which role."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.projects.remove_member import remove_member
from apps.actions.projects.set_member import set_member
from apps.console.forms import MemberForm
from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership


@page(MemberRole.ADMIN)
def members(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List members, and give a person a role."""
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _give(request, visit, form.cleaned_data["username"], MemberRole(form.cleaned_data["role"]))
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("console:members", slug=visit.project.slug)
    rows = Membership.objects.filter(project=visit.project).select_related("user").order_by("user__username")
    shown = {"page": page_of(rows, request), "form": form, "roles": list(MemberRole)}
    return render(request, "console/members.html", shown, status=422 if form.errors else 200)


@require_POST
@page(MemberRole.ADMIN)
def remove(request: HttpRequest, visit: Visit, membership_id: UUID) -> HttpResponse:
    """End a membership."""
    try:
        was = remove_member(project_id=visit.project.pk, membership_id=membership_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = reverse("console:give-back", args=[visit.project.slug, was.user_id, was.role])
        messages.success(request, "Removed: the person no longer sees this project.", extra_tags=undo)
    return redirect("console:members", slug=visit.project.slug)


@require_POST
@page(MemberRole.ADMIN)
def give_back(request: HttpRequest, visit: Visit, person_id: int, role: MemberRole) -> HttpResponse:
    """Give a person the role back that a change or a removal took."""
    person = get_object_or_404(User, pk=person_id)
    try:
        _give(request, visit, person.get_username(), role)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:members", slug=visit.project.slug)


def _give(request: HttpRequest, visit: Visit, username: str, role: MemberRole) -> None:
    """Set a role and tell of it, with the way back to the former one. Raises Refused."""
    slug = visit.project.slug
    before = Membership.objects.filter(project=visit.project, user__username=username.strip()).first()
    member = set_member(project_id=visit.project.pk, username=username, role=role)
    undo = (
        reverse("console:give-back", args=[slug, member.user_id, before.role])
        if before
        else reverse("console:remove", args=[slug, member.pk])
    )
    messages.success(request, f"{member.user.get_username()} is {member.role} now.", extra_tags=undo)
