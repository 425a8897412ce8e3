"""Load what the first request would else wait for, before the web server takes any."""

import structlog
from django.conf import settings
from django.db import connection
from django.template.loader import get_template
from django.urls import get_resolver

from apps.pipeline.extraction.plain import extractor  # noqa: F401  (compiled now, not in a request)
from apps.providers import registry

log = structlog.get_logger(__name__)


def warm_up() -> None:
    """Load views and templates, the embedder on this machine and a pooled connection; nothing of it has to succeed."""
    try:
        for pattern in get_resolver().url_patterns:
            list(getattr(pattern, "url_patterns", ()))  # imports the views
        get_template("account/login.html")
        if not registry.is_remote(registry.embedder()):
            registry.embedder().embed(["warm"])
        connection.ensure_connection()
    except Exception as error:  # noqa: BLE001  (the request that needs it says more)
        log.warning("not warmed up", error=type(error).__name__, embedder=settings.EMBEDDER)
    finally:
        connection.close()  # back to the pool
