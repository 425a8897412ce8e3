"""Log in and out, and one's own account: password and second factor."""

import time
from datetime import timedelta
from typing import Any

import segno
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, PasswordChangeView, RedirectURLMixin
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST
from django.views.generic import FormView

from apps.common.errors import Conflict, Unfit
from apps.console.forms import CodeForm
from apps.projects.accounts import (
    TooManyCodes,
    check_second_factor,
    confirm_second_factor,
    enroll_second_factor,
    has_second_factor,
    remove_second_factor,
)
from apps.tenants.codes import setup_uri
from apps.tenants.models import SecondFactor

CODE_SECONDS = 300  # between password and code
_AWAITED = "awaits_code"  # in the session: who has given the password, through which backend, and when


class LoginForm(AuthenticationForm):
    """Name and password."""

    def get_invalid_login_error(self) -> ValidationError:
        """Say that the name or password is wrong, not which of them, or that there were too many attempts."""
        if wait := seconds_to_wait_of(self.request):
            return ValidationError(f"Too many attempts. Try again in {-(-wait // 60)} minutes.", code="throttled")
        return super().get_invalid_login_error()


def seconds_to_wait_of(request: Any) -> int:
    """Return how long the caller has to wait before the next attempt; 0 if it need not."""
    return int(getattr(request, "login_wait", 0))  # set by the authentication backend


class ThrottledLoginView(LoginView):
    """Django's login page; after too many attempts it answers 429."""

    template_name = "console/login.html"
    authentication_form = LoginForm

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add whether this server has no account yet."""
        return super().get_context_data(**context, has_accounts=get_user_model().objects.exists())

    def form_valid(self, form: Any) -> HttpResponse:
        """Log in, or lead to the page for the code."""
        user = form.get_user()
        if not has_second_factor(user_id=user.pk):
            response = super().form_valid(form)
            limit_session(self.request)
            return response
        self.request.session.flush()  # of whoever used this browser before
        self.request.session[_AWAITED] = [user.pk, user.backend, time.time()]
        after = {self.redirect_field_name: self.get_redirect_url()}
        return redirect(f"{reverse('console:login-code')}?{urlencode(after)}")

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        response = super().form_invalid(form)
        if wait := seconds_to_wait_of(self.request):
            response.status_code = 429
            response["Retry-After"] = str(wait)
        return response


class LoginCodeView(RedirectURLMixin, FormView):
    """The page for the code; it is shown to nobody but to those who have just given their password."""

    template_name = "console/login_code.html"
    form_class = CodeForm
    next_page = "console:home"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Lead back to the login who has not given a password, or too long ago."""
        if _awaited(request) is None:
            return redirect("console:login")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: CodeForm) -> HttpResponse:
        """Log in with a right code."""
        person_id, backend = _awaited(self.request) or (0, "")
        try:
            is_right = check_second_factor(user_id=person_id, code=form.cleaned_data["code"])
        except TooManyCodes as refused:
            form.add_error(None, f"{str(refused).capitalize()}.")
            response = self.form_invalid(form)
            response.status_code, response["Retry-After"] = 429, str(refused.seconds)
            return response
        person = get_user_model().objects.filter(pk=person_id, is_active=True).first()
        if not is_right or person is None:
            form.add_error("code", "This is not the code that the app shows now, nor an unused recovery code.")
            return self.form_invalid(form)
        del self.request.session[_AWAITED]
        login(self.request, person, backend=backend)
        limit_session(self.request)
        return super().form_valid(form)


def limit_session(request: HttpRequest) -> None:
    """End the session at a fixed time, however much it is used."""
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))


def _awaited(request: HttpRequest) -> tuple[int, str] | None:
    """Return who has given the password in this browser within CODE_SECONDS, and the backend."""
    person_id, backend, at = request.session.get(_AWAITED) or (0, "", 0.0)
    return (person_id, backend) if time.time() - at < CODE_SECONDS else None


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
