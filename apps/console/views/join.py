"""Accept an invitation: with the account that is signed in, or a new one."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from apps.actions.errors import NotFound, Unfit
from apps.actions.invitations import accept_invitation, accept_with_new_account, find_invitation
from apps.console.forms import NewAccountForm
from apps.console.views.login import limit_session
from apps.tenants.limits import RateLimit, client_address, seconds_to_wait
from apps.tenants.models import Invitation

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
            form = None if request.user.is_authenticated else NewAccountForm()
            return _page(request, invitation, form)
        if request.user.is_authenticated:
            accept_invitation(token=token, person_id=request.user.pk)
            return _welcome(request, invitation)
        return _with_new_account(request, invitation, token)
    except NotFound:
        # Wrong links count, too; forms were counted above.
        refusal = _throttled(request) if request.method != "POST" else None
        return refusal or render(request, "console/join_closed.html", status=404)


def _with_new_account(request: HttpRequest, invitation: Invitation, token: str) -> HttpResponse:
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
    limit_session(request)
    return _welcome(request, invitation)


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
    shown = {"minutes": -(-wait // 60)}
    response = render(request, "console/join_closed.html", shown, status=429)
    response["Retry-After"] = str(wait)
    return response
