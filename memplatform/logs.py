"""The logs: lines on standard error, of Django's loggers and of structlog."""

import logging
from typing import Any

import structlog

_ENTRANCES = frozenset({"v1", "console", "admin", "static"})


class WithoutPaths(logging.Filter):
    """Replace the path of a request in Django's messages, as it may name an end user, by the pattern of its URL."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record; keep it."""
        path = getattr(getattr(record, "request", None), "path", None)
        if path and isinstance(record.args, tuple):
            shown = _pattern_of(record.request)  # type: ignore[attr-defined]  # Django sets it
            record.args = tuple(shown if each == path else each for each in record.args)
        return True


def _pattern_of(request: Any) -> str:
    """Return the pattern of a request's URL, or no more than its first part where there is none."""
    match = getattr(request, "resolver_match", None)
    if match is not None:
        return f"/{match.route}"
    first = request.path.lstrip("/").partition("/")[0]
    return f"/{first}/…" if first in _ENTRANCES else "/…"


def logging_settings(*, level: str) -> dict[str, Any]:
    """Return Django's setting LOGGING, and let structlog's events go through the standard logging.

    Tracebacks omit the values of variables: these contain users' texts, and printing them took longer than the failed
    work itself.
    """
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"without_paths": {"()": WithoutPaths}},
        "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["without_paths"]}},
        "root": {"handlers": ["stderr"], "level": level},
        # At INFO the HTTP library logs each address that is called; those of webhooks often contain a secret.
        "loggers": {"httpx2": {"level": "WARNING"}},
    }
