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
    """Report that callers who wait can hold all threads of the web server."""
    if settings.SYNC_REQUESTS < settings.WEB_THREADS:
        return []
    return [
        Warning("SYNC_REQUESTS is not below WEB_THREADS: callers who wait can hold all threads", id="memplatform.W031")
    ]
