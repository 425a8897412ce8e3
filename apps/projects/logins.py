"""How allauth logs people in: limits, the end of sessions, stored secrets, and accounts of a single sign-on."""

from datetime import timedelta
from typing import Any, ClassVar

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import LoginForm
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.signals import authenticator_removed
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from apps.tenants.encrypted_text import decrypt, encrypt
from apps.tenants.limits import RateLimit, client_address, forget, seconds_to_wait

_log = structlog.get_logger(__name__)
_MINUTES = 60
_HOURS = 60 * _MINUTES


def login_limits(*, username: str, address: str) -> tuple[RateLimit, ...]:
    """Return the limits that an attempt counts for, the narrowest first.

    The limit of a name over all addresses is wide, because anyone can use it up and so keep its owner out.
    """
    name = username.casefold()[:150]
    return (
        RateLimit(f"login:{address}:{name}", most=5, seconds=5 * _MINUTES),
        RateLimit(f"login:{address}", most=30, seconds=5 * _MINUTES),
        RateLimit(f"login:name:{name}", most=100, seconds=_HOURS),
    )


class AccountAdapter(DefaultAccountAdapter):
    """Accounts are made by invitation and by commands; attempts to log in are counted before a password is hashed."""

    error_messages: ClassVar[dict[str, str]] = {
        **DefaultAccountAdapter.error_messages,
        "too_many_login_attempts": "Too many attempts. Try again in some minutes.",
    }

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        """Return to the page of the account."""
        return reverse("mfa_index")

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return False: nobody makes an account of their own."""
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address of the caller, behind as many proxies as the setting says."""
        return client_address(request)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Refuse an attempt, right or wrong, after too many. Raises ValidationError."""
        for limit in login_limits(username=credentials["username"], address=client_address(request)):
            if seconds_to_wait(limit):
                raise self.validation_error("too_many_login_attempts")

    def authenticate(self, request: HttpRequest, **credentials: Any) -> Any:
        """Return the account, or None; its failed attempts from this address are forgotten."""
        user = super().authenticate(request, **credentials)
        if user is not None:
            narrowest, *_ = login_limits(username=credentials["username"], address=client_address(request))
            forget(narrowest.subject)
        return user


class PasswordForm(LoginForm):
    """Name and password."""

    def login(self, request: HttpRequest, redirect_url: str | None = None) -> HttpResponse:
        """Log in, or lead to the page for the code of the second factor."""
        response: HttpResponse = super().login(request, redirect_url=redirect_url)
        limit_session(request)  # allauth's own setting extends a session that is used
        return response


@receiver(authenticator_removed)
def log_removal(user: Any, authenticator: Any, **_: Any) -> None:
    """Log that an account needs no code any more."""
    _log.warning("second factor removed", person=user.pk, kind=authenticator.type)


@receiver(user_logged_in)
def end_session_in_time(request: HttpRequest, **_: Any) -> None:
    """Limit each new session, however the person has logged in."""
    limit_session(request)


def limit_session(request: HttpRequest) -> None:
    """End the session at a fixed time, however much it is used."""
    request.session.set_expiry(timezone.now() + timedelta(seconds=settings.SESSION_COOKIE_AGE))


class SecondFactorAdapter(DefaultMFAAdapter):
    """Secrets of authenticator apps and recovery codes are encrypted in the database."""

    def encrypt(self, text: str) -> str:
        """Return what is stored of a secret."""
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return a stored secret."""
        # One that can't be read is replaced by one that nobody knows: the codes of an empty one can be computed.
        return decrypt(encrypted_text) or generate_totp_secret()


class SingleSignOnAdapter(DefaultSocialAccountAdapter):
    """Whoever the identity provider knows may log in; what they see follows from their memberships."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        """Return True: an account without a membership sees no project."""
        return True
