"""Draw samples of a period at random: stored memories, and turns of users from which nothing was stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from secrets import randbits
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import MD5, Cast, Concat
from django.utils import timezone

from apps.actions.errors import Unfit
from apps.actions.ledger.actor import current_actor
from apps.actions.ledger.record import record
from apps.memories.models import EvaluationItem, EvaluationSample, Memory, MemoryOrigin
from apps.pipeline.core.enums import Role, SampleKind
from apps.pipeline.core.statement import PLAIN_EXTRACTORS
from apps.tenants.models import Project
from apps.traces.models import Turn
from apps.traces.run_heads import ENDED

SIZES: dict[SampleKind, int] = {SampleKind.MEMORY: 100, SampleKind.TURN: 50}
WEEK = timedelta(days=7)
MOST_PERIOD = timedelta(days=92)
SEED_BITS = 32


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """A period of a project, `until` excluded, and the seed of the draw; without one, a random seed is taken."""

    project_id: UUID
    since: datetime
    until: datetime
    seed: int | None = None


def last_days(*, project_id: UUID, seed: int | None = None) -> DrawRequest:
    """Return the request for the seven days until now."""
    now = timezone.now()
    return DrawRequest(project_id, since=now - WEEK, until=now, seed=seed)


def draw_samples(*, request: DrawRequest) -> tuple[EvaluationSample, ...]:
    """Draw up to 100 active memories that were added in the period, and 50 turns with nothing stored.

    Each row of the period has the same chance, unless it is in a sample already: it is never drawn twice. Raises Unfit
    for an impossible period, and if there is nothing to draw. A period that goes on ends now, so that its week is one
    that has come.
    """
    request = replace(request, until=min(request.until, timezone.now()))
    if not timedelta() < request.until - request.since <= MOST_PERIOD:
        raise Unfit(f"the period must end up to {MOST_PERIOD.days} days after its start", at="/until")
    seed = randbits(SEED_BITS) if request.seed is None else request.seed
    with transaction.atomic():
        # One draw of a project at a time; other rows may still refer to the project.
        Project.objects.select_for_update(no_key=True).get(id=request.project_id)
        drawn = [_draw_memories(request, seed), _draw_turns(request, seed)]
        samples = tuple(sample for sample in drawn if sample is not None)
        if not samples:
            raise Unfit("nothing was stored or said in the period that is not in a sample already", at="/since")
        for sample in samples:
            record(
                project_id=sample.project_id,
                verb="sample_drawn",
                object_kind="evaluation_sample",
                object_id=sample.id,
                details={"kind": sample.kind, "seed": sample.seed, "population": sample.population},
            )
    return samples


def week_of(moment: datetime) -> date:
    """Return the Monday of the week, in UTC, in which a period with this end lies."""
    day = (moment.astimezone(UTC) - timedelta(microseconds=1)).date()
    return day - timedelta(days=day.weekday())


def start_of(week: date) -> datetime:
    """Return the first moment of a week."""
    return datetime.combine(week, time.min, tzinfo=UTC)


def _draw_memories(request: DrawRequest, seed: int) -> EvaluationSample | None:
    rows = Memory.objects.for_project(request.project_id).active()
    rows = rows.filter(created_at__gte=request.since, created_at__lt=request.until)
    found = list(
        _shuffled(_not_drawn(rows, "memory"), seed).values(
            "id", "end_user_id", "type", "extractor", "trace__configuration__number"
        )[: SIZES[SampleKind.MEMORY]]
    )
    if not found:
        return None
    sample = _sample(request, SampleKind.MEMORY, seed, population=rows.count())
    EvaluationItem.objects.bulk_create(
        EvaluationItem(
            end_user_id=row["end_user_id"],
            sample=sample,
            position=position,
            memory_id=row["id"],
            memory_type=row["type"],
            model=_model_of(row["extractor"]),
            version=row["trace__configuration__number"],
        )
        for position, row in enumerate(found)
    )
    return sample


def _draw_turns(request: DrawRequest, seed: int) -> EvaluationSample | None:
    """Draw of the turns whose text is still there; the turns of all are counted."""
    origins = MemoryOrigin.objects.standing().filter(end_user=OuterRef("end_user"), turn=OuterRef("pk"))
    said = Turn.objects.filter(
        trace__project_id=request.project_id,
        trace__created_at__gte=request.since,
        trace__created_at__lt=request.until,
        trace__status__in=ENDED,
        role=Role.USER,
        withdrawn=False,
    ).annotate(has_memory=Exists(origins))
    readable = _not_drawn(said.filter(has_memory=False), "turn").exclude(content="")
    rows = _shuffled(readable, seed).values("id", "end_user_id", "trace__configuration__number")
    found = list(rows[: SIZES[SampleKind.TURN]])
    if not found:
        return None
    counts = _counts(said)
    population = sum(each["turns"] - each["stored"] for each in counts)
    sample = _sample(request, SampleKind.TURN, seed, population=population, counts=counts)
    EvaluationItem.objects.bulk_create(
        EvaluationItem(
            end_user_id=row["end_user_id"],
            sample=sample,
            position=position,
            turn_id=row["id"],
            version=row["trace__configuration__number"],
        )
        for position, row in enumerate(found)
    )
    return sample


def _counts(said: QuerySet[Any]) -> list[dict[str, int]]:
    """Count turns by configuration version: all, those that passed the pre-filter, those that gave a memory."""
    counted = (
        said.order_by()
        .values("trace__configuration__number")
        .annotate(
            turns=Count("id"),
            passed=Count("id", filter=Q(rejected_for="") | Q(has_memory=True)),
            stored=Count("id", filter=Q(has_memory=True)),
        )
        .order_by("trace__configuration__number")
    )
    return [{"version": row.pop("trace__configuration__number"), **row} for row in counted]


def _not_drawn(rows: QuerySet[Any], thing: str) -> QuerySet[Any]:
    drawn = EvaluationItem.objects.filter(**{"end_user": OuterRef("end_user"), thing: OuterRef("pk")})
    return rows.filter(~Exists(drawn), end_user__erasing_since=None)


def _shuffled(rows: QuerySet[Any], seed: int) -> QuerySet[Any]:
    """Order rows by a hash of their identifier and the seed: at random, but each time in the same way."""
    return rows.order_by(MD5(Concat(Cast("id", TextField()), Value(f":{seed}"))), "id")


def _model_of(extractor: str) -> str:
    return "plain" if extractor.startswith(PLAIN_EXTRACTORS) else extractor or "direct"


def _sample(
    request: DrawRequest, kind: SampleKind, seed: int, *, population: int, counts: Sequence[dict[str, int]] = ()
) -> EvaluationSample:
    return EvaluationSample.objects.create(
        project_id=request.project_id,
        kind=kind,
        week=week_of(request.until),
        since=request.since,
        until=request.until,
        seed=seed,
        population=population,
        counts=list(counts),
        actor=current_actor(),
    )
