"""System checks of `manage.py check --deploy` that Django does not have."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(deploy=True)
def check_names(**_: Any) -> list[CheckMessage]:
    """Report variables whose names resemble those of settings."""
    return [
        Warning(f"{name} is no setting; did you mean {meant}?", id="memplatform.W033")
        for name, meant in settings.MISSPELT.items()
    ]


@register(Tags.security, deploy=True)
def check_hosts(**_: Any) -> list[CheckMessage]:
    """Report that any host name is accepted."""
    if "*" not in settings.ALLOWED_HOSTS:
        return []
    return [Warning("ALLOWED_HOSTS accepts any name: a forged one reaches the links of pages", id="memplatform.W032")]
