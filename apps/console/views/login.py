"""The login: name and password, then a code for those who have a second factor."""

import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model, login
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, RedirectURLMixin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.generic import FormView

from apps.actions.accounts import TooManyCodes, check_second_factor, has_second_factor
from apps.console.forms import CodeForm

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
