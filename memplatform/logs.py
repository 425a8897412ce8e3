"""The logs: lines on standard error, of Django's loggers and of structlog."""

from typing import Any

import structlog


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
        "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        # At INFO the HTTP library logs each address that is called; those of webhooks often contain a secret.
        "loggers": {"httpx2": {"level": "WARNING"}},
    }
