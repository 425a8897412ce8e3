"""The login page."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.exceptions import ValidationError
from django.http import HttpResponse


class LoginForm(AuthenticationForm):
    """Name and password."""

    def get_invalid_login_error(self) -> ValidationError:
        """Say whether the name or password is wrong, or whether there were too many attempts."""
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

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        response = super().form_invalid(form)
        if wait := seconds_to_wait_of(self.request):
            response.status_code = 429
            response["Retry-After"] = str(wait)
        return response
