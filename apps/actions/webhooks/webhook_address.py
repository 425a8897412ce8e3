"""Check the address of a webhook; which addresses its host has is checked when it is called."""

from urllib.parse import urlsplit

from django.conf import settings

from apps.actions.errors import Unfit
from apps.events.models import WEBHOOK_URL_LENGTH


def checked_url(url: str, *, at: str) -> str:
    """Return the address of a webhook. Raises Unfit."""
    if len(url) > WEBHOOK_URL_LENGTH or not url.isprintable() or " " in url:
        raise Unfit(f"must be an address of at most {WEBHOOK_URL_LENGTH} characters, without spaces", at=at)
    try:
        parts = urlsplit(url)
        host, is_complete = parts.hostname or "", bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise Unfit("is no valid address", at=at) from error
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Unfit("must contain no user, password or fragment", at=at)
    private = {each.strip("[]").lower() for each in settings.WEBHOOK_PRIVATE_HOSTS}
    if not is_complete or parts.scheme not in ("https", "http") or (parts.scheme == "http" and host not in private):
        raise Unfit("must begin with https://", at=at)
    return url
