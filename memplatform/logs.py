"""The logs: one line for each event on standard error, of Django's loggers and of structlog, without users' texts."""

import re
import sys
import traceback
from enum import StrEnum
from typing import Any

import psycopg
import structlog
from django.db import Error as DjangoError
from django.db import InterfaceError, OperationalError
from opentelemetry import trace
from structlog.stdlib import ProcessorFormatter
from structlog.types import EventDict, Processor

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
OTHER = "other"  # in place of a route that callers could choose freely
MOST_CHARACTERS = 300  # of a message
MOST_PLACES = 6  # of a traceback, innermost first
# What follows quotes the row or the parameters of a statement.
_QUOTED = re.compile(r"\s*\b(DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=\n\S|\Z)", re.DOTALL)
# Values in the messages of violations and of wrong input: `(email)=(ana@example.com)`, `type integer: "Ana"`.
_VALUES = re.compile(r"\)=\(.*?\)|(?<=: )\".*?\"(?=\s|$)", re.DOTALL)


class LogFormat(StrEnum):
    """How a line is written."""

    TEXT = "text"
    JSON = "json"


def logging_settings(*, level: str, form: LogFormat = LogFormat.TEXT) -> dict[str, Any]:
    """Return Django's setting LOGGING, and let structlog's events go through the standard logging."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            structlog.contextvars.merge_contextvars,
            _failure,
            ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{__name__}.formatter", "form": form}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        # At INFO django-q has a line for each scheduled task, and httpx2 one for each address that is called: those of
        # webhooks often contain a secret.
        "root": {"handlers": ["stderr"], "level": max(level, "WARNING", key=LEVELS.index)},
        "loggers": {
            **{name: {"level": level} for name in ("apps", "memplatform", "django_structlog")},
            "httpx2": {"level": "WARNING"},
            "django.request": {"level": "CRITICAL"},  # RequestTelemetry logs requests, with their routes
            "opentelemetry": {"level": "ERROR"},  # at WARNING it has a line for each try to reach the collector
        },
    }


def formatter(form: LogFormat) -> ProcessorFormatter:
    """Return the formatter of all lines."""
    order = ["time", "level", "logger", "event"]
    renderers: dict[LogFormat, Processor] = {
        LogFormat.TEXT: structlog.processors.KeyValueRenderer(key_order=order),
        LogFormat.JSON: structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
    }
    return ProcessorFormatter(
        foreign_pre_chain=[structlog.contextvars.merge_contextvars, _route_for_path, _failure],
        processors=[
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            _trace_and_span,
            ProcessorFormatter.remove_processors_meta,
            _without_values,
            renderers[form],
        ],
    )


def route_of(request: Any) -> str:
    """Return the pattern of a request's URL; "other" where there is none, as for static files."""
    match = request.resolver_match
    return f"/{match.route}" if match else OTHER


def _route_for_path(logger: Any, method: str, event: EventDict) -> EventDict:
    """Replace the path of a request in Django's messages, as it may name an end user."""
    request = getattr(event["_record"], "request", None)
    if request is not None:
        event["event"] = event["event"].replace(request.path, route_of(request))
    return event


def _trace_and_span(logger: Any, method: str, event: EventDict) -> EventDict:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
        event["span_id"] = trace.format_span_id(context.span_id)
    return event


def _failure(logger: Any, method: str, event: EventDict) -> EventDict:
    """Replace a traceback, whose messages may quote what people said."""
    given = event.pop("exc_info", None)
    error = given[1] if isinstance(given, tuple) else given if isinstance(given, BaseException) else sys.exception()
    if given and error:
        event["failure"] = brief(error)
    return event


def _without_values(logger: Any, method: str, event: EventDict) -> EventDict:
    return {name: without_values(value) if isinstance(value, str) else value for name, value in event.items()}


def brief(error: BaseException) -> str:
    """Return in one line type, message and places of an error, and the type of its cause."""
    cause, is_of_django = error.__cause__, isinstance(error, DjangoError)
    known = cause if is_of_django else error
    if isinstance(known, psycopg.Error) and not isinstance(error, OperationalError | InterfaceError):
        # The message may quote a value.
        diag = known.diag
        named = {"table": diag.table_name, "column": diag.column_name, "constraint": diag.constraint_name}
        told = " ".join([f"SQLSTATE {known.sqlstate}", *(f"{name} {value}" for name, value in named.items() if value)])
    else:
        told = _VALUES.sub("", without_values(str(error).partition("\n")[0]))[:MOST_CHARACTERS]
    reason = f", from {type(cause).__name__}" if cause and not is_of_django else ""
    frames = traceback.extract_tb(error.__traceback__)[: -MOST_PLACES - 1 : -1]
    places = [f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} in {frame.name}" for frame in frames]
    return f"{type(error).__name__}: {told}{reason} at {' < '.join(places)}"


def without_values(text: str) -> str:
    """Return a text as one line, without what PostgreSQL quotes of rows and parameters."""
    return " | ".join(line.strip() for line in _QUOTED.sub("", text).splitlines() if line.strip())
