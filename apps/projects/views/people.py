"""Members of a project, invitations, and joining by the link of one."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from apps.common.errors import NotFound, Refused, Unfit
from apps.console.errors import error_page
from apps.console.forms import InvitationForm, MemberForm, NewAccountForm
from apps.console.labels import count_of
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import done_once, once, project_action
from apps.projects.invitations import (
    MailNotSent,
    accept_invitation,
    accept_with_new_account,
    create_invitation,
    find_invitation,
    mail_invitation,
    revoke_invitation,
)
from apps.projects.services import remove_member, set_member
from apps.tenants.enums import MemberRole
from apps.tenants.limits import RateLimit, client_address, seconds_to_wait
from apps.tenants.models import Invitation, Membership

MEMBER_ID = "member_%s"  # of its fields; the form of invitations is on the same page
MOST_INVITATIONS = 100  # shown
_OFFER = "restore-role"
_OFFER_SECONDS = 600


@never_cache
@project_page(MemberRole.ADMIN)
def members(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List members, add one or change a role."""
    form = MemberForm(request.POST or None, auto_id=MEMBER_ID)
    if form.is_valid():
        try:
            _set_role(request, visit, **form.cleaned_data)
        except Unfit:
            # Whether the name exists is not told; each project has 20 such names per hour.
            told = "This name can't be added. Ask an operator for an active account of this name."
            if seconds_to_wait(RateLimit(f"member-names:{visit.project.pk}", most=20, seconds=3_600)):
                told = "Too many names that could not be added. Try again in an hour."
            form.add_error("username", told)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect(visit.address("members"))
    return _members_page(request, visit, form=form, invitation_form=InvitationForm())


def _members_page(
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


@project_action(page="members", changes_archived=True)
def remove(request: HttpRequest, visit: ProjectVisit, membership_id: UUID) -> None:
    """Remove a member."""
    was = remove_member(project_id=visit.project.pk, membership_id=membership_id)
    undo = _undo(visit, was.user_id, was.role)
    messages.success(request, "Member removed from this project.", extra_tags=undo)


@project_action(page="members")
def restore_role(request: HttpRequest, visit: ProjectVisit, person_id: int, role: str) -> None:
    """Restore the role that a person had before a change or removal, as the message about it offered."""
    try:
        offer = signing.loads(request.GET.get("offer", ""), salt=_OFFER, max_age=_OFFER_SECONDS)
    except signing.BadSignature:
        offer = None
    if offer != [str(visit.project.pk), person_id, role]:
        raise Http404("this undo was not offered, or too long ago")
    person = get_object_or_404(User, pk=person_id)
    _set_role(request, visit, person.get_username(), MemberRole(role))


def _undo(visit: ProjectVisit, person_id: int, role: str) -> str:
    """Return the URL that restores a role. It is signed, so that admins can't add people by number."""
    offer = signing.dumps([str(visit.project.pk), person_id, role], salt=_OFFER)
    return visit.address("restore-role", person_id, role, offer=offer)


def _set_role(request: HttpRequest, visit: ProjectVisit, username: str, role: MemberRole) -> None:
    """Set a role and add a message with its undo. Raises Refused."""
    before = Membership.objects.filter(project=visit.project, user__username=username.strip()).first()
    member = set_member(project_id=visit.project.pk, username=username, role=role)
    undo = _undo(visit, member.user_id, before.role) if before else visit.address("remove", member.pk)
    messages.success(request, f"{member.user.get_username()} is now {member.role}.", extra_tags=undo)


@never_cache
@require_POST
@project_page(MemberRole.ADMIN)
@done_once("This person was invited before. The link is shown only once.", page="members")
def invite(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Invite a person; without mail, the link is shown once."""
    form, link = InvitationForm(request.POST), ""
    if form.is_valid():
        try:
            invitation, token = create_invitation(
                project_id=visit.project.pk, invited_by=visit.person_id, **form.cleaned_data
            )
        except Unfit as unfit:
            form.add_error(unfit.at.strip("/"), f"{str(unfit).capitalize()}.")
        except Refused as refused:
            form.add_error(None, f"Nobody was invited: {refused}")
        else:
            form, link = InvitationForm(), _pass_on(request, invitation, token)
            if not link:
                return redirect(visit.address("members"))
    return _members_page(request, visit, form=MemberForm(auto_id=MEMBER_ID), invitation_form=form, link=link)


def _pass_on(request: HttpRequest, invitation: Invitation, token: str) -> str:
    """Send the link by mail and return "", or return the link to be shown."""
    path = reverse("console:join", args=[token])
    link = request.build_absolute_uri(path)
    if settings.PUBLIC_URL:
        link = f"{settings.PUBLIC_URL.rstrip('/')}{path.removeprefix(settings.SUB_PATH)}"
    if not invitation.email or not settings.EMAIL_HOST:
        return link
    try:
        mail_invitation(invitation=invitation, link=link, inviter=request.user.get_username())
    except MailNotSent as error:
        messages.error(request, f"The mail was not sent ({error}). Pass the link on yourself.")
        return link
    messages.success(request, f"The invitation is sent to {invitation.email}.")
    return ""


@project_action(page="members", changes_archived=True)
def revoke(request: HttpRequest, visit: ProjectVisit, invitation_id: UUID) -> None:
    """Revoke an open invitation."""
    revoke_invitation(project_id=visit.project.pk, invitation_id=invitation_id)
    messages.success(request, "The invitation is revoked: its link leads nowhere now.")


_MOST, _SECONDS = 30, 300  # forms and wrong links of one address


@sensitive_post_parameters()
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation, which a visit alone does not use up; accept it on POST."""
    if request.method == "POST" and (refusal := _throttled(request)):
        return refusal
    try:
        invitation = find_invitation(token=token)
        form = None if request.user.is_authenticated else NewAccountForm(request.POST or None)
        if request.method == "POST" and _accept(request, token, form):
            messages.success(request, f"Welcome to {invitation.project.name}.")
            return redirect("console:project", slug=invitation.project.slug)
        shown = {"invitation": invitation, "form": form}
        return render(request, "console/join.html", shown, status=422 if form and form.errors else 200)
    except NotFound:
        # Wrong links count, too; forms were counted above.
        refusal = _throttled(request) if request.method != "POST" else None
        why = "It was used or revoked, or it has expired. Ask whoever has invited you for a new one."
        return refusal or error_page(request, 404, "This invitation is not open", why)


def _accept(request: HttpRequest, token: str, form: NewAccountForm | None) -> bool:
    """Accept the invitation, without a form for who is logged in; return False if the form has errors."""
    if request.user.is_authenticated:
        accept_invitation(token=token, person_id=request.user.pk)
        return True
    if form is None or not form.is_valid():
        return False
    given = form.cleaned_data
    try:
        _, person = accept_with_new_account(token=token, username=given["username"], password=given["password1"])
    except Unfit as unfit:
        form.add_error("username", f"{str(unfit).capitalize()}.")
        return False
    login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
    return True


def _throttled(request: HttpRequest) -> HttpResponse | None:
    """Count an attempt; return the refusal after too many, before a password is hashed."""
    wait = seconds_to_wait(RateLimit(f"invitation:{client_address(request)}", most=_MOST, seconds=_SECONDS))
    if not wait:
        return None
    response = error_page(request, 429, "Too many attempts", f"Try again in {count_of(-(-wait // 60), 'minute')}.")
    response["Retry-After"] = str(wait)
    return response
