"""The logs: one line for each event on standard error, of Django's loggers and of structlog, without users' texts."""

import json
import logging
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import structlog

from apps.telemetry.request_context import request_context
from memplatform.brief_failures import brief, without_values

_ENTRANCES = frozenset({"v1", "console", "admin", "static"})


class LogFormat(StrEnum):
    """How a line is written."""

    TEXT = "text"
    JSON = "json"


def logging_settings(*, level: str, form: LogFormat = LogFormat.TEXT) -> dict[str, Any]:
    """Return Django's setting LOGGING, and let structlog's events go through the standard logging."""
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, _as_record],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    formatter = TextFormatter if form is LogFormat.TEXT else JsonFormatter
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{__name__}.{formatter.__name__}"}},
        "filters": {"once": {"()": Once}, "without_paths": {"()": WithoutPaths}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["once", "without_paths"]}
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # At INFO the HTTP library logs each address that is called; those of webhooks often contain a secret.
            "httpx2": {"level": "WARNING"},
        },
    }


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


class Once(logging.Filter):
    """Leaves out what Django says of answers with 5xx that have no traceback: who made the answer has logged why."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for a record that only repeats a status."""
        is_repeated = record.name == "django.request" and getattr(record, "status_code", 0) >= 500
        return not (is_repeated and not record.exc_info)


class TextFormatter(logging.Formatter):
    """Writes time, level, logger, message and failure, and the ids of the request that it is about."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        failure = f" failure={_failure(record)!r}" if record.exc_info else ""
        ids = "".join(f" {name}={value}" for name, value in _ids().items())
        return f"{_time(record)} {record.levelname} {record.name} {_message(record)}{failure}{ids}"


class JsonFormatter(logging.Formatter):
    """Writes an object with the fields of an event of structlog beside those of every line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        fields: Mapping[str, Any] = getattr(record, "fields", None) or {"event": _message(record)}
        line: dict[str, Any] = {"time": _time(record), "level": record.levelname.lower(), "logger": record.name}
        line |= {**fields, **_ids()}
        if record.exc_info:
            line["failure"] = _failure(record)
        return json.dumps(line, ensure_ascii=False, default=str)


def _as_record(logger: Any, method: str, event: MutableMapping[str, Any]) -> tuple[tuple[str], dict[str, Any]]:
    """Turn an event of structlog into the arguments of a standard logger (its last processor)."""
    failure = event.pop("exc_info", None)
    event = {name: without_values(value) if isinstance(value, str) else value for name, value in event.items()}
    others = (f"{name}={value!r}" for name, value in event.items() if name != "event")
    message = " ".join([f"event={event['event']!r}", *others])
    return (message,), {"exc_info": failure, "extra": {"fields": event}}


def _ids() -> dict[str, str]:
    """Return the ids of request, distributed trace and span that this thread works on, as far as it does."""
    context = request_context()
    trace_id, span_id = context.trace_and_span
    named = {"request_id": context.request_id, "trace_id": trace_id, "span_id": span_id}
    return {name: value for name, value in named.items() if value}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _message(record: logging.LogRecord) -> str:
    return without_values(record.getMessage())


def _failure(record: logging.LogRecord) -> str:
    error = record.exc_info[1] if record.exc_info else None
    return brief(error) if error else ""
