"""Call a model once, to see whether it answers."""

from dataclasses import dataclass
from time import perf_counter_ns
from uuid import UUID

from django.db import connection, transaction

from apps.actions.errors import NotFound, ProviderError, Refused
from apps.actions.ledger.record import record
from apps.outbox.model_pauses import end_pause
from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest, Purpose
from apps.pipeline.redaction.redact import redact
from apps.providers import registry
from apps.providers.configured import complete_within, configured_models, remote_embedder
from apps.tenants.rate_limits import RateLimit, seconds_to_wait
from apps.traces.models import ModelTestCall
from apps.traces.policies import active_policy

SECONDS = 15.0  # that a test call of a language model takes at most
MOST_PER_MINUTE = 10  # of a project
MINUTE = 60  # seconds
_SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
_PROMPT = 'This is a test of the connection. Answer with the JSON object {"ok": true} and nothing else.'


@dataclass(frozen=True, slots=True)
class _Outcome:
    answer: ModelAnswer
    error: str = ""


def make_test_call(*, project_id: UUID, model: str) -> ModelTestCall:
    """Call a configured model, or the embedder, now; if it answers, its pause ends and waiting work continues.

    No database connection is held meanwhile. The call is recorded and counted like others of the project. Raises
    NotFound for a model that is not configured, Refused after 10 calls in a minute.
    """
    policy = active_policy(project_id=project_id)
    is_embedder = bool(model) and model == remote_embedder()
    if not is_embedder and model not in {each.spec for each in configured_models(also=policy.extraction.model)}:
        raise NotFound("no such model is configured")
    if seconds_to_wait(RateLimit(f"model-tests:{project_id}", most=MOST_PER_MINUTE, seconds=MINUTE)):
        raise Refused(f"this project has made its {MOST_PER_MINUTE} test calls of this minute")
    if not connection.in_atomic_block:
        connection.close()  # calls are long, connections are few
    outcome = _embed() if is_embedder else _ask(model)
    return _record(project_id, model, outcome, error=redact(outcome.error, policy=policy.redaction).text)


def _ask(model: str) -> _Outcome:
    request = ModelRequest(
        purpose=Purpose.TEST,
        prompt_version="1",
        static=_PROMPT,
        context="",
        turns="Are you there?",
        schema=_SCHEMA,
        max_tokens=256,
        model=model,
    )
    try:
        answer = complete_within(request, seconds=SECONDS)
    except ModelFailed as failure:
        return _Outcome(ModelAnswer("", model, latency_us=failure.latency_us), str(failure))
    return _Outcome(answer, "" if answer.text.strip() else "the answer was empty")


def _embed() -> _Outcome:
    embedder, started, error = registry.embedder(), perf_counter_ns(), ""
    try:
        embedder.embed(["Are you there?"])
    except ProviderError as failure:
        error = str(failure)
    return _Outcome(ModelAnswer("", embedder.name, latency_us=(perf_counter_ns() - started) // 1_000), error)


def _record(project_id: UUID, model: str, outcome: _Outcome, *, error: str) -> ModelTestCall:
    answer = outcome.answer
    with transaction.atomic():
        made = ModelTestCall.objects.create(
            project_id=project_id,
            model=model[:120],
            input_tokens=answer.usage.input + answer.usage.cache_read + answer.usage.cache_write,
            output_tokens=answer.usage.output,
            latency_us=answer.latency_us,
            cost_usd=answer.cost_usd,
            error=error[:1_000],
        )
        details = {"answered": int(not error)}
        record(project_id=project_id, verb="model_tested", object_kind="model_test", object_id=made.pk, details=details)
        if not error:
            end_pause(project_id=project_id, model=model)
    return made
