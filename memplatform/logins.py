"""Logins: limits on attempts, counted before a password is hashed, and the hashing with bounded memory."""

from threading import BoundedSemaphore
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from apps.tenants.limits import RateLimit, client_address, forget, seconds_to_wait

_MINUTES = 60
_HOURS = 60 * _MINUTES


class ThrottledBackend(ModelBackend):
    """Django's accounts; refuses after too many attempts, right or wrong."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Any:
        """Return the account, or None. Raises PermissionDenied after too many attempts."""
        if request is None or username is None or password is None:
            return super().authenticate(request, username=username, password=password, **kwargs)
        limits = login_limits(username=username, address=client_address(request))
        for limit in limits:
            if wait := seconds_to_wait(limit):
                request.login_wait = wait  # type: ignore[attr-defined]  # for the login page
                raise PermissionDenied("too many attempts to log in")
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is not None:
            forget(limits[0].subject)
        return user


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


_AT_ONCE = BoundedSemaphore(1)  # of a process


class BoundedArgon2Hasher(Argon2PasswordHasher):
    """Argon2id as OWASP recommends it (19 MiB, 2 passes, 1 lane), so that logins can't take all CPU or memory.

    Django's own defaults take 100 MiB and 8 threads for each hash.
    """

    memory_cost = 19 * 1024  # KiB
    time_cost = 2
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Hash a password."""
        with _AT_ONCE:
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        """Return True if a password has this hash."""
        with _AT_ONCE:
            return bool(super().verify(password, encoded))

    def harden_runtime(self, password: str, encoded: str) -> Any:
        """Do nothing: Argon2 has no cheaper hashes to make up for."""
