"""The pages where people log in; the other pages of an account are allauth's."""

from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.generic import View
from requests import RequestException

RETRY_AFTER = 300  # seconds: the length of most limits


class LimitedAttempts(View):
    """A form that answers 429 after too many attempts."""

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        response: HttpResponse = super().form_invalid(form)  # type: ignore[misc]  # of the form's own view
        errors = [error for of_field in form.errors.as_data().values() for error in of_field]
        if any(error.code == "too_many_login_attempts" for error in errors):
            response.status_code, response["Retry-After"] = 429, str(RETRY_AFTER)
        return response


class LoginView(LimitedAttempts, account.LoginView):
    """Name and password."""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add whether this server has no account yet."""
        return super().get_context_data(**context) | {"has_accounts": get_user_model().objects.exists()}


class LoginCodeView(LimitedAttempts, mfa.AuthenticateView):
    """The code of the second factor."""


def single_sign_on(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the identity provider, or to a page that says that it does not answer."""
    try:
        response: HttpResponse = openid_connect.login(request, provider_id)
    except RequestException:
        return redirect("socialaccount_login_error")
    return response
