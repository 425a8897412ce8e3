"""System checks of `manage.py check --deploy` that Django does not have."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def check_hosts(**_: Any) -> list[CheckMessage]:
    """Report that any host name is accepted."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [Warning("ALLOWED_HOSTS accepts any name: a forged one reaches the links of pages", id="memplatform.W032")]


@register(Tags.security, deploy=True)
def check_threads(**_: Any) -> list[CheckMessage]:
    """Report that threads of the web server wait for connections of the pool."""
    if not settings.POOL_SIZE or settings.WEB_THREADS <= settings.POOL_SIZE:
        return []
    return [Warning("WEB_THREADS is above DB_POOL_SIZE: threads wait for connections", id="memplatform.W031")]
