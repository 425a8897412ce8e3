"""The pages where people log in; the other pages of an account are allauth's."""

from typing import Any

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from requests import RequestException

RETRY_AFTER = 300  # seconds: the length of most limits


class LoginView(account.LoginView):
    """Name and password; after too many attempts it answers 429."""

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        return _refused(super().form_invalid(form), form)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add whether this server has no account yet."""
        return super().get_context_data(**context) | {"has_accounts": get_user_model().objects.exists()}


class LoginCodeView(mfa.AuthenticateView):
    """The code of the second factor; after too many attempts it answers 429."""

    def form_invalid(self, form: Any) -> HttpResponse:
        """Show the form again."""
        return _refused(super().form_invalid(form), form)


def single_sign_on(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the identity provider, or to a page that says that it does not answer."""
    try:
        response: HttpResponse = openid_connect.login(request, provider_id)
    except RequestException:
        return redirect("socialaccount_login_error")
    return response


def _refused(response: HttpResponse, form: Any) -> HttpResponse:
    if any(error.code == "too_many_login_attempts" for errors in form.errors.as_data().values() for error in errors):
        response.status_code, response["Retry-After"] = 429, str(RETRY_AFTER)
    return response
