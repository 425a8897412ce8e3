"""Members of the project and their roles."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused, Unfit
from apps.actions.projects import remove_member, set_member
from apps.console.form_repeats import once
from apps.console.forms import InvitationForm, MemberForm
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.enums import MemberRole
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.tenants.models import Invitation, Membership

MOST_INVITATIONS = 100  # shown
_OFFER = "restore-role"
_OFFER_SECONDS = 600


@never_cache
@project_page(MemberRole.ADMIN)
def members(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List members, add one or change a role."""
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _set_role(request, visit, form.cleaned_data["username"], MemberRole(form.cleaned_data["role"]))
        except Unfit:
            form.add_error("username", _nobody_added(visit))
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("console:members", slug=visit.project.slug)
    return members_page(request, visit, form=form, invitation_form=InvitationForm())


def members_page(
    request: HttpRequest, visit: ProjectVisit, *, form: MemberForm, invitation_form: InvitationForm, link: str = ""
) -> HttpResponse:
    """Show members and open invitations; `link` is that of a new invitation, which is shown once."""
    rows = Membership.objects.filter(project=visit.project).select_related("user").order_by("user__username")
    opened = Invitation.objects.open(now=timezone.now()).filter(project=visit.project)
    shown = {
        "page": paginate(rows, request),
        "form": form,
        "roles": list(MemberRole),
        "invitation_form": invitation_form,
        "invitations": opened.select_related("invited_by")[:MOST_INVITATIONS],
        "link": link,
        "once": once(),
        "has_mail": bool(settings.EMAIL_HOST),
    }
    is_bad = bool(form.errors or invitation_form.errors)
    return render(request, "console/members.html", shown, status=422 if is_bad else 200)


def _nobody_added(visit: ProjectVisit) -> str:
    """Say that a name was not taken, not whether it exists; each project has 20 such names per hour."""
    if seconds_to_wait(RateLimit(f"member-names:{visit.project.pk}", most=20, seconds=3_600)):
        return "Too many names that could not be added. Try again in an hour."
    return "This name can't be added. Ask an operator for an active account of this name."


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def remove(request: HttpRequest, visit: ProjectVisit, membership_id: UUID) -> HttpResponse:
    """Remove a member."""
    try:
        was = remove_member(project_id=visit.project.pk, membership_id=membership_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = _undo(visit, was.user_id, was.role)
        messages.success(request, "Member removed from this project.", extra_tags=undo)
    return redirect("console:members", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def restore_role(request: HttpRequest, visit: ProjectVisit, person_id: int, role: MemberRole) -> HttpResponse:
    """Restore the role that a person had before a change or removal, as the message about it offered."""
    if not _is_offered(request, visit, person_id, role):
        raise Http404("this undo was not offered, or too long ago")
    person = get_object_or_404(User, pk=person_id)
    try:
        _set_role(request, visit, person.get_username(), role)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:members", slug=visit.project.slug)


def _undo(visit: ProjectVisit, person_id: int, role: str) -> str:
    """Return the URL that restores a role. It is signed, so that admins can't add people by number."""
    url = reverse("console:restore-role", args=[visit.project.slug, person_id, role])
    return f"{url}?offer={signing.dumps([str(visit.project.pk), person_id, role], salt=_OFFER)}"


def _is_offered(request: HttpRequest, visit: ProjectVisit, person_id: int, role: str) -> bool:
    try:
        offer = signing.loads(request.GET.get("offer", ""), salt=_OFFER, max_age=_OFFER_SECONDS)
    except signing.BadSignature:
        return False
    return bool(offer == [str(visit.project.pk), person_id, role])


def _set_role(request: HttpRequest, visit: ProjectVisit, username: str, role: MemberRole) -> None:
    """Set a role and add a message with its undo. Raises Refused."""
    slug = visit.project.slug
    before = Membership.objects.filter(project=visit.project, user__username=username.strip()).first()
    member = set_member(project_id=visit.project.pk, username=username, role=role)
    undo = _undo(visit, member.user_id, before.role) if before else reverse("console:remove", args=[slug, member.pk])
    messages.success(request, f"{member.user.get_username()} is now {member.role}.", extra_tags=undo)
