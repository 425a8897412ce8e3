"""Retry and discard work, and test models."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter_ns
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, ProviderError, Refused
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.outbox import enqueue, manual, model_pauses
from apps.outbox.model_pauses import end_pause
from apps.outbox.models import OutboxRow
from apps.outbox.querysets import DISCARDED
from apps.pipeline.core.enums import RUNS, TraceStatus, WorkState
from apps.pipeline.core.identifiers import end_user_id
from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest, Purpose
from apps.pipeline.core.policy import Policy
from apps.pipeline.redaction.redact import redact
from apps.providers import registry
from apps.providers.registry import ConfiguredModel, complete_within, configured_models, remote_embedder
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.traces import recorder
from apps.traces.models import ModelTestCall, Trace, Turn
from apps.traces.policies import active_policy
from apps.traces.recorder import ModelRecord, model_records


def retry_work(*, project_id: UUID, row_id: int) -> None:
    """Make dead or waiting work due now and reset its attempts; its trace is queued again.

    Raises NotFound, Conflict for work that is running or done.
    """
    row = OutboxRow.objects.filter(project_id=project_id, id=row_id).first()
    if row is None:
        raise NotFound("there is no such work")
    with transaction.atomic():
        if not manual.retry(end_user_id=row.end_user_id, row_id=row.id):
            raise Conflict("only work that is dead or waits can be retried")
        if row.kind in RUNS:
            recorder.fail_trace(
                end_user_id=row.end_user_id, trace_id=row.subject_id, status=TraceStatus.QUEUED, error=row.last_error
            )
        record(
            project_id=project_id,
            end_user_id=row.end_user_id,
            verb="work_retried",
            object_kind=row.kind,
            object_id=row.subject_id,
        )


def discard_work(*, project_id: UUID, row_id: int) -> None:
    """Mark open work and its trace as dead, so that the work behind it can run; it can be retried later.

    Raises NotFound, Conflict for work that a worker is processing or that has ended.
    """
    row = OutboxRow.objects.filter(project_id=project_id, id=row_id).first()
    if row is None:
        raise NotFound("there is no such work")
    error = f"{DISCARDED}{current_actor()}; before: {row.last_error or 'no error'}"
    with transaction.atomic():
        if not manual.discard(end_user_id=row.end_user_id, row_id=row.id, error=error):
            raise Conflict("only open work that no worker is processing can be discarded")
        if row.kind in RUNS:
            recorder.fail_trace(
                end_user_id=row.end_user_id, trace_id=row.subject_id, status=TraceStatus.DEAD, error=error
            )
        record(
            project_id=project_id,
            end_user_id=row.end_user_id,
            verb="work_discarded",
            object_kind=row.kind,
            object_id=row.subject_id,
        )


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
    if TraceStatus.DEAD in statuses:
        retried += _retry_dead(_of_user(OutboxRow.objects.filter(project_id=project_id), user), error)
    if TraceStatus.EXTRACTION_FAILED in statuses:
        retried += _retry_extractions(_of_user(Trace.objects.filter(project_id=project_id), user), error)
    if retried:
        details = {"retried": retried, "statuses": sorted(status.value for status in statuses)}
        record(
            project_id=project_id,
            end_user_id=user,
            verb="work_retried",
            object_kind="project",
            object_id=project_id,
            details=details,
        )
        model_pauses.try_now(project_id=project_id)
    return retried


def _of_user(rows: QuerySet, user: UUID | None) -> QuerySet:
    return rows.filter(end_user_id=user) if user else rows


def _retry_dead(rows: QuerySet[OutboxRow], error: str) -> int:
    """Retry dead rows, each batch in one transaction with the lock order of the outbox: leases, rows, traces."""
    dead = rows.filter(state=WorkState.DEAD, last_error__contains=error).order_by("id")
    last = count = 0
    while found := list(dead.filter(id__gt=last).values_list("id", "end_user_id")[:BATCH]):
        last = found[-1][0]
        with transaction.atomic():
            retried = manual.retry_dead(row_ids=[row for row, _ in found], end_user_ids=[user for _, user in found])
            ids = [each.subject_id for each in retried if each.kind in RUNS]
            traces = Trace.objects.filter(end_user_id__in={each.end_user_id for each in retried}, id__in=ids)
            traces.update(status=TraceStatus.QUEUED, finished_at=None)
        count += len(retried)
    return count


def _retry_extractions(rows: QuerySet[Trace], error: str) -> int:
    """Enqueue the work of failed extractions again; their outbox rows were done and may have been pruned."""
    turns = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
    failed = rows.filter(status=TraceStatus.EXTRACTION_FAILED, error__contains=error).order_by(
        "end_user_id", "created_at"
    )
    ids = list(failed.values_list("id", flat=True))
    count = 0
    for first in range(0, len(ids), BATCH):
        with transaction.atomic():
            found = list(failed.filter(id__in=ids[first : first + BATCH]).annotate(has_turns=Exists(turns)))
            for trace in found:
                enqueue.enqueue(
                    end_user_id=trace.end_user_id,
                    project_id=trace.project_id,
                    kind=trace.work_kind(has_turns=trace.has_turns),
                    subject_ids=[trace.id],
                    session_id=trace.session_id,
                )
            recorder.reopen(traces=found)
        count += len(found)
    return count


def try_model_now(*, project_id: UUID) -> None:
    """Make the next try of each paused model of a project due now. Raises Conflict if none is paused."""
    if not model_pauses.try_now(project_id=project_id):
        raise Conflict("all models answer")


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


WITHIN = timedelta(hours=24)
MOST_ERROR = 300  # characters


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """One model; `use` is what the project uses it for, "" for nothing, `problem` what its settings lack."""

    name: str
    use: str
    calls: int
    failed: int
    last_answer: datetime | None
    last_failure: datetime | None
    last_error: str  # redacted
    median_seconds: float | None  # of the calls that were answered
    problem: str = ""


def read_model_figures(*, project_id: UUID) -> list[ModelFigures]:
    """Return the models that the project uses, then those that it could use.

    Calls of embedders are not recorded, so an embedder on another machine has test calls only.
    """
    policy = active_policy(project_id=project_id)
    records = model_records(project_id=project_id, since=timezone.now() - WITHIN)
    used = policy.extraction.model or settings.MODEL
    figures = [
        _figures(each, "extraction, judging, questions" if each.spec == used else "", records, policy)
        for each in configured_models(also=policy.extraction.model)
    ]
    if embedder := remote_embedder():
        model = ConfiguredModel(embedder, frozenset({embedder}))
        figures.append(_figures(model, "vectors of memories", records, policy))
    return sorted(figures, key=lambda each: not each.use)


def _figures(model: ConfiguredModel, use: str, records: Sequence[ModelRecord], policy: Policy) -> ModelFigures:
    own = [record for record in records if record.model in model.names]
    medians = [record.median_us for record in own if record.median_us is not None]
    failures = [(record.last_failure, record.last_error) for record in own if record.last_failure]
    last_failure, last_error = max(failures, default=(None, ""))
    return ModelFigures(
        name=model.spec,
        use=use,
        calls=sum(record.calls for record in own),
        failed=sum(record.failed for record in own),
        last_answer=max((record.last_answer for record in own if record.last_answer), default=None),
        last_failure=last_failure,
        last_error=redact(last_error, policy=policy.redaction).text[:MOST_ERROR],
        median_seconds=max(medians) / 1_000_000 if medians else None,
        problem=model.problem,
    )
