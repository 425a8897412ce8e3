"""Invite people to the project, by mail or by a link."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused, Unfit
from apps.actions.invitations import (
    CreatedInvitation,
    MailNotSent,
    create_invitation,
    mail_invitation,
    revoke_invitation,
)
from apps.console.form_repeats import is_repeated, mark_as_done
from apps.console.forms import InvitationForm, MemberForm
from apps.console.permissions import ProjectVisit, project_page
from apps.console.views.members import members_page
from apps.pipeline.core.enums import MemberRole


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
            created = create_invitation(
                project_id=visit.project.pk,
                role=MemberRole(form.cleaned_data["role"]),
                invited_by=visit.person_id,
                email=form.cleaned_data["email"],
            )
        except Unfit as unfit:
            form.add_error(unfit.at.strip("/"), f"{str(unfit).capitalize()}.")
        except Refused as refused:
            form.add_error(None, f"Nobody was invited: {refused}.")
        else:
            mark_as_done(request)
            form, link = InvitationForm(), _pass_on(request, created)
            if not link:
                return redirect("console:members", slug=visit.project.slug)
    return members_page(request, visit, form=MemberForm(), invitation_form=form, link=link)


def _pass_on(request: HttpRequest, created: CreatedInvitation) -> str:
    """Send the link by mail and return "", or return the link to be shown."""
    path = reverse("console:join", args=[created.token])
    link = f"{settings.PUBLIC_URL.rstrip('/')}{path}" if settings.PUBLIC_URL else request.build_absolute_uri(path)
    if not created.invitation.email or not settings.EMAIL_HOST:
        return link
    try:
        mail_invitation(invitation=created.invitation, link=link, inviter=request.user.get_username())
    except MailNotSent as error:
        messages.error(request, f"The mail was not sent ({error}). Pass the link on yourself.")
        return link
    messages.success(request, f"The invitation is sent to {created.invitation.email}.")
    return ""


@require_POST
@project_page(MemberRole.ADMIN, changes_archived=True)
def revoke(request: HttpRequest, visit: ProjectVisit, invitation_id: UUID) -> HttpResponse:
    """Revoke an open invitation."""
    try:
        revoke_invitation(project_id=visit.project.pk, invitation_id=invitation_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        messages.success(request, "The invitation is revoked: its link leads nowhere now.")
    return redirect("console:members", slug=visit.project.slug)
