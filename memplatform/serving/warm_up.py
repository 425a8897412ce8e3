"""Load what the first request would else wait for, before the web server takes any."""

import structlog
from django.conf import settings
from django.db import connection
from django.template.loader import get_template
from django.urls import get_resolver

from apps.providers import registry

log = structlog.get_logger(__name__)


def warm_up() -> None:
    """Load views and templates, the embedder on this machine and a pooled connection; nothing of it has to succeed."""
    for step in (_load_views, _load_embedder, _connect):
        try:
            step()
        except Exception as error:  # noqa: BLE001  (the request that needs it says more)
            log.warning("not warmed up", step=step.__name__, error=type(error).__name__, embedder=settings.EMBEDDER)


def _load_views() -> None:
    """Import all views with what they import."""
    for pattern in get_resolver().url_patterns:
        list(getattr(pattern, "url_patterns", ()))
    get_template("console/login.html")


def _load_embedder() -> None:
    if not registry.is_remote(registry.embedder()):
        registry.embedder().embed(["warm"])


def _connect() -> None:
    """Open a connection and leave it to the pool."""
    with connection.cursor() as cursor:
        cursor.execute("select 1")
    connection.close()
