"""A person's own account: password and second factor."""

from typing import Any

import segno
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import PasswordChangeView
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.http import require_POST

from apps.actions.accounts import (
    TooManyCodes,
    check_second_factor,
    confirm_second_factor,
    enroll_second_factor,
    remove_second_factor,
)
from apps.actions.errors import Conflict, Unfit
from apps.console.forms import CodeForm
from apps.tenants.codes import setup_uri
from apps.tenants.models import SecondFactor


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Show whether a second factor is set up, and what can be done."""
    return _page(request)


@require_POST
@login_required
def enroll(request: HttpRequest) -> HttpResponse:
    """Show a new secret as a QR code and as text."""
    try:
        enroll_second_factor(user_id=_person(request))
    except Conflict as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    return redirect("console:account")


@require_POST
@login_required
def confirm(request: HttpRequest) -> HttpResponse:
    """Confirm the second factor with a first code and show the recovery codes, this once."""
    form = CodeForm(request.POST)
    if form.is_valid():
        try:
            codes = confirm_second_factor(user_id=_person(request), code=form.cleaned_data["code"])
        except (Conflict, Unfit) as refused:
            form.add_error("code", f"{str(refused).capitalize()}.")
        else:
            return render(request, "console/recovery_codes.html", {"codes": codes})
    return _page(request, form)


@require_POST
@login_required
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the second factor; a confirmed one needs a code, so that a browser left open is not enough."""
    form = CodeForm(request.POST)
    if _factor(request) is None:
        return redirect("console:account")
    try:
        if form.is_valid() and check_second_factor(user_id=_person(request), code=form.cleaned_data["code"]):
            remove_second_factor(user_id=_person(request))
            messages.success(request, "The second factor is removed.")
            return redirect("console:account")
    except TooManyCodes as refused:
        form.add_error(None, f"{str(refused).capitalize()}.")
    else:
        form.add_error("code", "This is not the code that the app shows now, nor an unused recovery code.")
    return _page(request, form)


class ChangePasswordView(SuccessMessageMixin, PasswordChangeView):
    """Change one's own password, which ends all other sessions of the account."""

    template_name = "console/password.html"
    success_url = reverse_lazy("console:account")
    success_message = "The password is changed, and all other sessions are signed out."


def _page(request: HttpRequest, form: CodeForm | None = None) -> HttpResponse:
    factor = _factor(request)
    shown: dict[str, Any] = {"factor": factor, "form": form or CodeForm()}
    if factor and not factor.confirmed_at:
        uri = setup_uri(secret=factor.secret, name=request.user.get_username())
        shown |= {"uri": uri, "qr": segno.make_qr(uri).svg_data_uri(scale=5, border=3, light="white")}
    return render(request, "console/account.html", shown, status=422 if form else 200)


def _factor(request: HttpRequest) -> SecondFactor | None:
    return SecondFactor.objects.filter(user_id=_person(request)).first()


def _person(request: HttpRequest) -> int:
    return int(request.user.pk or 0)
