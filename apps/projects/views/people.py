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
from apps.console.forms import InvitationForm, MemberForm, NewAccountForm
from apps.console.labels import count_of
from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import is_repeated, mark_as_done, once, refusals_told
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
            # Whether the name exists is not told; each project has 20 such names per hour.
            told = "This name can't be added. Ask an operator for an active account of this name."
            if seconds_to_wait(RateLimit(f"member-names:{visit.project.pk}", most=20, seconds=3_600)):
                told = "Too many names that could not be added. Try again in an hour."
            form.add_error("username", told)
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


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def remove(request: HttpRequest, visit: ProjectVisit, membership_id: UUID) -> HttpResponse:
    """Remove a member."""
    with refusals_told(request):
        was = remove_member(project_id=visit.project.pk, membership_id=membership_id)
        undo = _undo(visit, was.user_id, was.role)
        messages.success(request, "Member removed from this project.", extra_tags=undo)
    return redirect("console:members", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def restore_role(request: HttpRequest, visit: ProjectVisit, person_id: int, role: MemberRole) -> HttpResponse:
    """Restore the role that a person had before a change or removal, as the message about it offered."""
    try:
        offer = signing.loads(request.GET.get("offer", ""), salt=_OFFER, max_age=_OFFER_SECONDS)
    except signing.BadSignature:
        offer = None
    if offer != [str(visit.project.pk), person_id, role]:
        raise Http404("this undo was not offered, or too long ago")
    person = get_object_or_404(User, pk=person_id)
    with refusals_told(request):
        _set_role(request, visit, person.get_username(), role)
    return redirect("console:members", slug=visit.project.slug)


def _undo(visit: ProjectVisit, person_id: int, role: str) -> str:
    """Return the URL that restores a role. It is signed, so that admins can't add people by number."""
    url = reverse("console:restore-role", args=[visit.project.slug, person_id, role])
    return f"{url}?offer={signing.dumps([str(visit.project.pk), person_id, role], salt=_OFFER)}"


def _set_role(request: HttpRequest, visit: ProjectVisit, username: str, role: MemberRole) -> None:
    """Set a role and add a message with its undo. Raises Refused."""
    slug = visit.project.slug
    before = Membership.objects.filter(project=visit.project, user__username=username.strip()).first()
    member = set_member(project_id=visit.project.pk, username=username, role=role)
    undo = _undo(visit, member.user_id, before.role) if before else reverse("console:remove", args=[slug, member.pk])
    messages.success(request, f"{member.user.get_username()} is now {member.role}.", extra_tags=undo)


@never_cache
@require_POST
@project_page(MemberRole.ADMIN)
def invite(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Invite a person; without mail, the link is shown once."""
    form, link = InvitationForm(request.POST), ""
    if is_repeated(request):
        messages.info(request, "This person was invited before. The link is shown only once.")
        return redirect("console:members", slug=visit.project.slug)
    if form.is_valid():
        try:
            invitation, token = create_invitation(
                project_id=visit.project.pk,
                role=MemberRole(form.cleaned_data["role"]),
                invited_by=visit.person_id,
                email=form.cleaned_data["email"],
            )
        except Unfit as unfit:
            form.add_error(unfit.at.strip("/"), f"{str(unfit).capitalize()}.")
        except Refused as refused:
            form.add_error(None, f"Nobody was invited: {refused}")
        else:
            mark_as_done(request)
            form, link = InvitationForm(), _pass_on(request, invitation, token)
            if not link:
                return redirect("console:members", slug=visit.project.slug)
    return members_page(request, visit, form=MemberForm(), invitation_form=form, link=link)


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


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def revoke(request: HttpRequest, visit: ProjectVisit, invitation_id: UUID) -> HttpResponse:
    """Revoke an open invitation."""
    with refusals_told(request):
        revoke_invitation(project_id=visit.project.pk, invitation_id=invitation_id)
        messages.success(request, "The invitation is revoked: its link leads nowhere now.")
    return redirect("console:members", slug=visit.project.slug)


_MOST, _SECONDS = 30, 300  # forms and wrong links of one address


@sensitive_post_parameters()
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation, which a visit alone does not use up; accept it on POST."""
    if request.method == "POST" and (refusal := _throttled(request)):
        return refusal
    try:
        invitation = find_invitation(token=token)
        if request.method != "POST":
            empty = None if request.user.is_authenticated else NewAccountForm()
            return _page(request, invitation, empty)
        if request.user.is_authenticated:
            accept_invitation(token=token, person_id=request.user.pk)
            return _welcome(request, invitation)
        form = NewAccountForm(request.POST)
        if not form.is_valid():
            return _page(request, invitation, form)
        given = form.cleaned_data
        try:
            _, person = accept_with_new_account(token=token, username=given["username"], password=given["password1"])
        except Unfit as unfit:
            form.add_error("username", f"{str(unfit).capitalize()}.")
            return _page(request, invitation, form)
        login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
        return _welcome(request, invitation)
    except NotFound:
        # Wrong links count, too; forms were counted above.
        refusal = _throttled(request) if request.method != "POST" else None
        shown = {
            "title": "This invitation is not open",
            "text": "It was used or revoked, or it has expired. Ask whoever has invited you for a new one.",
        }
        return refusal or render(request, "console/error.html", shown, status=404)


def _page(request: HttpRequest, invitation: Invitation, form: NewAccountForm | None) -> HttpResponse:
    shown = {"invitation": invitation, "form": form}
    return render(request, "console/join.html", shown, status=422 if form and form.errors else 200)


def _welcome(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    messages.success(request, f"Welcome to {invitation.project.name}.")
    return redirect("console:project", slug=invitation.project.slug)


def _throttled(request: HttpRequest) -> HttpResponse | None:
    """Count an attempt; return the refusal after too many, before a password is hashed."""
    wait = seconds_to_wait(RateLimit(f"invitation:{client_address(request)}", most=_MOST, seconds=_SECONDS))
    if not wait:
        return None
    shown = {"title": "Too many attempts", "text": f"Try again in {count_of(-(-wait // 60), 'minute')}."}
    response = render(request, "console/error.html", shown, status=429)
    response["Retry-After"] = str(wait)
    return response
