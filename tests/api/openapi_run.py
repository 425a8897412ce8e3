"""Requests that schemathesis derives from the OpenAPI document, sent to the application within this process."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from asgiref.wsgi import WsgiToAsgi
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

# Rules for values that the document states in words, as JSON Schema can't: a refusal that names one is no defect.
STATED_IN_WORDS = (
    "holds no text",
    "must not hold",
    "must not be blank",
    "must contain a letter or a digit",
    "_ identifier",  # "is no mem_ identifier": which prefix a field takes is in its description
    "is needed to name a session",
    "is not the number of an event",
    "is not a cursor of this list",
    "must lie between",
    "must not lie before valid_from",
    "is needed: what is superseded has ended",
    "must lie in the future",
    "must span 1 to 366 days",
    "must name at least one condition",
    "is required with session_id",
    "no trace that has ended fits",
    "is no mail address",
    "must begin with https://",
    "must be an address of at most",
    "is no valid address",
    "must contain no user, password or fragment",
    "must end up to 92 days after its start",
    "nothing was stored or said in the period",
    # Of a filter.
    "is no field; known are",
    "is no operator of",
    "must be an object with",
    "must be an array of",
    "must be a text",
    "must be a number",
    "must be a value, or an object",
    "must be a time such as",
    "must be one of",
    "must be JSON",
    "must have 1 to 255 characters",
    "is nested deeper than 5 levels",
    "conditions; the limit is",
    "must have exactly one of literal, entity and list",
    "this Idempotency-Key was used for another request",
    "Idempotency-Key: must have 1 to 255 characters",  # spaces around a header are no part of its value
    "`int | null`, got `float`",
    "Expected `int`, got `float`",  # 5.0 is an integer in JSON Schema
    "`int`, got `float`",
    "is no operator; allowed: $eq",
)
_DRAWN = ("examples", "fuzzing", "stateful")  # phases that draw requests; the other one sends the limits of values
NEGATIVE_STATUSES = ["400", "401", "403", "404", "405", "406", "409", "411", "413", "415", "422", "429"]


@dataclass(slots=True)
class Findings:
    """What a run has found: failures as one line each, and how often each check was made."""

    failures: set[str] = field(default_factory=set)
    checks: Counter[str] = field(default_factory=Counter)


def check_document(*, key: str, examples: int, limits_of_each: int) -> Findings:
    """Send requests for all operations and check the answers; `examples` are drawn per operation and for sequences.

    The document's own examples are always sent, and the limits of the values of each so-manieth operation: they are
    most of the requests.
    """
    findings = Findings()
    with _application() as application:
        drawn = _schema(application, key=key, examples=examples, phases={"coverage": {"enabled": False}})
        limits = _schema(application, key=key, examples=examples, phases={name: {"enabled": False} for name in _DRAWN})
        labels = sorted(each.ok().label for each in limits.get_all_operations())
        chosen = frozenset(labels[::limits_of_each])
        for schema in (drawn, limits.include(lambda context: context.operation.label in chosen)):
            for event in from_schema(schema).execute():
                _note(event, findings)
    return findings


def _schema(application: WsgiToAsgi, *, key: str, examples: int, phases: dict[str, Any]) -> Any:
    config = SchemathesisConfig.from_dict(
        {
            "headers": {"Authorization": f"Bearer {key}"},
            "seed": 1,
            "continue-on-failure": True,
            "generation": {"deterministic": True, "database": "none", "max-examples": examples, "no-shrink": True},
            "checks": {"negative_data_rejection": {"expected-statuses": NEGATIVE_STATUSES}},
            "phases": phases,
        }
    )
    return schemathesis.openapi.from_asgi("/v1/schema", application, config=config)


@contextmanager
def _application() -> Iterator[WsgiToAsgi]:
    """Serve requests, whichever thread they come from, on the connection and in the transaction of the test."""
    handler, mine = WSGIHandler(), connections["default"]

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        connections["default"] = mine
        return handler(environ, start_response)

    signals = (request_started, request_finished)
    mine.inc_thread_sharing()
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield WsgiToAsgi(application)
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
        mine.dec_thread_sharing()


def _note(event: Any, findings: Findings) -> None:
    if isinstance(event, events.NonFatalError | events.FatalError):
        findings.failures.add(f"{type(event).__name__}: {getattr(event, 'value', None) or event}")
    if not isinstance(event, events.ScenarioFinished):
        return
    for case_id, checks in event.recorder.checks.items():
        for check in checks:
            findings.checks[check.name] += 1
            answer = event.recorder.interactions[case_id].response
            if check.failure_info and not _is_stated_in_words(check.name, answer):
                said, request = check.failure_info.failure.message[:300], check.failure_info.code_sample[:600]
                findings.failures.add(f"{check.name}: {event.label}: {said} {request} {answer.content[:300]!r}")


def _is_stated_in_words(check: str, answer: Any) -> bool:
    """Return True if a value was refused by a rule that the document states in words only."""
    if check != "positive_data_acceptance" or answer.status_code != 422:
        return False
    detail = json.loads(answer.content)["detail"]
    return any(rule in detail for rule in STATED_IN_WORDS)
