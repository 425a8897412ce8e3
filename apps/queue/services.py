"""Retry and discard work, test models, and say how they do."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from time import perf_counter_ns
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Left
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, ProviderError, Refused
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.outbox import manual, model_pauses
from apps.outbox.model_pauses import end_pause
from apps.outbox.models import ModelPause, OutboxRow
from apps.outbox.querysets import DISCARDED
from apps.pipeline.core.enums import RUNS, TraceStatus, WorkState
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest, Purpose
from apps.pipeline.redaction.redact import redact
from apps.providers import registry
from apps.providers.registry import ConfiguredModel, complete_within, configured_models, remote_embedder
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.traces import recorder
from apps.traces.models import ModelCall, ModelTestCall, Trace
from apps.traces.policies import active_policy
from apps.traces.runs import queue_trace


def retry_work(*, project_id: UUID, row_id: int) -> None:
    """Make dead or waiting work due now and reset its attempts; its trace is queued again.

    Raises NotFound, Conflict for work that is running or done.
    """
    row = get_or_refuse(OutboxRow.objects.filter(project_id=project_id, id=row_id), "work")
    with transaction.atomic():
        if not manual.retry(end_user_ids=[row.end_user_id], row_ids=[row.id]):
            raise Conflict("only work that is dead or waits can be retried")
        _update_trace(row, status=TraceStatus.QUEUED, error=row.last_error, verb="work_retried")


def discard_work(*, project_id: UUID, row_id: int) -> None:
    """Mark open work and its trace as dead, so that the work behind it can run; it can be retried later.

    Raises NotFound, Conflict for work that a worker is processing or that has ended.
    """
    row = get_or_refuse(OutboxRow.objects.filter(project_id=project_id, id=row_id), "work")
    error = f"{DISCARDED}{current_actor()}; before: {row.last_error or 'no error'}"
    with transaction.atomic():
        if not manual.discard(end_user_id=row.end_user_id, row_id=row.id, error=error):
            raise Conflict("only open work that no worker is processing can be discarded")
        _update_trace(row, status=TraceStatus.DEAD, error=error, verb="work_discarded")


def _update_trace(row: OutboxRow, *, status: TraceStatus, error: str, verb: str) -> None:
    if row.kind in RUNS:
        recorder.fail_trace(end_user_id=row.end_user_id, trace_id=row.subject_id, status=status, error=error)
    record(verb, row.kind, row.subject_id, project_id=row.project_id, end_user_id=row.end_user_id)


BATCH = 200  # rows in one transaction, so that no lease stays locked for long
FAILED = frozenset({TraceStatus.DEAD, TraceStatus.EXTRACTION_FAILED})


def retry_failed(
    *, project_id: UUID, statuses: Iterable[TraceStatus] = FAILED, error: str = "", user_id: str = ""
) -> int:
    """Make failed work due now and reset its attempts; return how many pieces of work these were.

    `error` restricts it to errors that contain this text, `user_id` to the work of one end user. Work of one end user
    runs in the order in which it was accepted. A paused model is tried at once. Each batch is its own transaction, so
    an interrupted call has retried some of the work.
    """
    retried, statuses = 0, frozenset(statuses)
    user = end_user_id(project_id=project_id, user_id=user_id) if user_id else None
    whose = {"project_id": project_id} | ({"end_user_id": user} if user else {})
    if TraceStatus.DEAD in statuses:
        dead = OutboxRow.objects.filter(**whose, state=WorkState.DEAD, last_error__contains=error).order_by("id")
        last = 0
        # In the lock order of the outbox: leases, rows, traces.
        while found := list(dead.filter(id__gt=last).values_list("id", "end_user_id")[:BATCH]):
            row_ids, users = zip(*found, strict=True)
            last = row_ids[-1]
            with transaction.atomic():
                rows = manual.retry(end_user_ids=users, row_ids=row_ids, states=[WorkState.DEAD])
                runs = [each.subject_id for each in rows if each.kind in RUNS]
                traces = Trace.objects.filter(end_user_id__in={each.end_user_id for each in rows}, id__in=runs)
                traces.update(status=TraceStatus.QUEUED, finished_at=None)
            retried += len(rows)
    if TraceStatus.EXTRACTION_FAILED in statuses:
        retried += _retry_extractions(Trace.objects.filter(**whose), error)
    if retried:
        details = {"retried": retried, "statuses": sorted(status.value for status in statuses)}
        record("work_retried", "project", project_id, project_id=project_id, end_user_id=user, details=details)
        model_pauses.try_now(project_id=project_id)
    return retried


def _retry_extractions(rows: QuerySet[Trace], error: str) -> int:
    """Enqueue the work of failed extractions again; their outbox rows were done and may have been pruned."""
    failed = rows.filter(status=TraceStatus.EXTRACTION_FAILED, error__contains=error).order_by(
        "end_user_id", "created_at"
    )
    ids = list(failed.values_list("id", flat=True))
    count = 0
    for first in range(0, len(ids), BATCH):
        with transaction.atomic():
            found = list(failed.filter(id__in=ids[first : first + BATCH]))
            for trace in found:
                queue_trace(trace)
            recorder.reopen(traces=found)
        count += len(found)
    return count


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
    if is_embedder:
        embedder, started, error = registry.embedder(), perf_counter_ns(), ""
        try:
            embedder.embed(["Are you there?"])
        except ProviderError as failure:
            error = str(failure)
        answer = ModelAnswer("", embedder.name, latency_us=(perf_counter_ns() - started) // 1_000)
    else:
        answer, error = _ask(model)
    error = redact(error, policy=policy.redaction).text
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
        record("model_tested", "model_test", made.pk, project_id=project_id, details=details)
        if not error:
            end_pause(project_id=project_id, model=model)
    return made


def _ask(model: str) -> tuple[ModelAnswer, str]:
    """Return the answer of a model, and its error or ""."""
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
        return ModelAnswer("", model, latency_us=failure.latency_us), str(failure)
    return answer, "" if answer.text.strip() else "the answer was empty"


WITHIN = timedelta(hours=24)
MOST_ERROR = 300  # characters
_TONES = {"answers": "good", "no calls": "plain", "last call failed": "wait"}


def model_health(*, project_id: UUID, pauses: Iterable[ModelPause]) -> list[dict[str, Any]]:
    """Return the models that the project uses, then those that it could use, with the figures of their calls.

    Calls of embedders are not recorded, so an embedder on another machine has test calls only.
    """
    policy, since = active_policy(project_id=project_id), timezone.now() - WITHIN
    calls = ModelCall.objects.filter(end_user__project_id=project_id, created_at__gte=since)
    tests = ModelTestCall.objects.filter(project_id=project_id, created_at__gte=since)
    rows = [*_by_model(calls), *_by_model(tests)]
    used = policy.extraction.model or settings.MODEL
    uses = {used: "extraction, judging, questions"}
    models = configured_models(also=policy.extraction.model)
    if embedder := remote_embedder():
        models.append(ConfiguredModel(embedder, frozenset({embedder})))
        uses[embedder] = "vectors of memories"
    paused = {pause.model for pause in pauses}
    shown = []
    for model in models:
        own = [row for row in rows if row["model"] in model.names]
        medians = [row["median_us"] for row in own if row["median_us"] is not None]  # of the calls that were answered
        failures = [(row["last_failure"], row["last_error"]) for row in own if row["last_failure"]]
        last_failure, last_error = max(failures, default=(None, ""))
        figures = {
            "calls": sum(row["calls"] for row in own),
            "failed": sum(row["failed"] for row in own),
            "last_answer": max((row["last_answer"] for row in own if row["last_answer"]), default=None),
            "last_failure": last_failure,
            "last_error": redact(last_error, policy=policy.redaction).text[:MOST_ERROR],
            "median_seconds": max(medians) / 1_000_000 if medians else None,
        }
        state = _state(model, figures, is_paused=model.spec in paused)
        named = {"name": model.spec, "use": uses.get(model.spec, ""), "problem": model.problem}
        shown.append({**figures, **named, "state": state, "tone": _TONES.get(state, "bad")})
    return sorted(shown, key=lambda each: not each["use"])


def _by_model(calls: QuerySet[ModelCall] | QuerySet[ModelTestCall]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each model, with one query for all and one for each that has answered."""
    answered, has_failed = Q(error=""), ~Q(error="")
    errors = calls.filter(has_failed, model=OuterRef("model")).order_by("-created_at")
    models = (
        calls.order_by("model")
        .values("model")
        .annotate(
            calls=Count("id"),
            failed=Count("id", filter=has_failed),
            last_answer=Max("created_at", filter=answered),
            last_failure=Max("created_at", filter=has_failed),
            last_error=Coalesce(Subquery(errors.values(start=Left("error", 1_000))[:1]), Value("")),
        )
    )
    for row in models:
        answers = calls.filter(answered, model=row["model"]).order_by("latency_us")
        count = row["calls"] - row["failed"]
        middle = answers.values_list("latency_us", flat=True)[(count - 1) // 2 :].first() if count else None
        yield {**row, "median_us": middle}


def _state(model: ConfiguredModel, figures: Mapping[str, Any], *, is_paused: bool) -> str:
    """Return in a word how a model does now."""
    if model.problem:
        return "not usable"
    if is_paused:
        return "does not answer"
    answer, failure = figures["last_answer"], figures["last_failure"]
    if failure and (answer is None or failure > answer):
        return "last call failed"
    return "answers" if answer else "no calls"
