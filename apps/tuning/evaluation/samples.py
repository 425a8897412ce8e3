"""Draw samples to label, list them, label items and undo it."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from secrets import randbits
from typing import Any
from uuid import UUID

import msgspec
import structlog
from django.db import transaction
from django.db.models import Case, Count, Exists, IntegerField, OuterRef, Q, QuerySet, TextField, Value, When
from django.db.models.functions import MD5, Cast, Concat
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample, Memory, MemoryOrigin
from apps.memories.services.revising import retract
from apps.memories.services.store import StoreRequest, store_with_outcomes
from apps.pipeline.core.enums import LABEL_VALUES, LabelValue, MemoryType, Role, SampleKind, SourceConfidence, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.statement import PLAIN
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.direct_write.outcomes import StoreResult
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.streamed_rows import streamed_rows
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.get_or_create import hold_end_user
from apps.traces.models import Turn
from apps.traces.runs import ENDED

SIZES: dict[SampleKind, int] = {SampleKind.MEMORY: 100, SampleKind.TURN: 50}
WEEK = timedelta(days=7)
MOST_PERIOD = timedelta(days=92)
SEED_BITS = 32
_VERSION = "trace__configuration__number"


def draw_samples(
    *, project_id: UUID, since: datetime | None = None, until: datetime | None = None, seed: int | None = None
) -> tuple[EvaluationSample, ...]:
    """Draw up to 100 active memories that were added in the period, and 50 turns with nothing stored.

    The period is by default the last seven days, and ends before `until`. Each row of it has the same chance, unless it
    is in a sample already: it is never drawn twice. Without a seed, a random one is taken. Raises Unfit for an
    impossible period, and if there is nothing to draw. A period that goes on ends now, so that its week is one that has
    come.
    """
    now = timezone.now()
    since, until = since or (until or now) - WEEK, min(until or now, now)
    if not timedelta() < until - since <= MOST_PERIOD:
        raise Unfit(f"the period must end up to {MOST_PERIOD.days} days after its start", at="/until")
    seed = randbits(SEED_BITS) if seed is None else seed
    with transaction.atomic():
        # One draw of a project at a time; other rows may still refer to the project.
        Project.objects.select_for_update(no_key=True).get(id=project_id)
        period = {"project_id": project_id, "since": since, "until": until, "week": week_of(until)}
        blank = {**period, "seed": seed, "actor": current_actor()}
        active = Memory.objects.for_project(project_id).active().filter(created_at__gte=since, created_at__lt=until)
        of_memories = EvaluationSample(kind=SampleKind.MEMORY, population=active.count(), **blank)
        memories = _not_drawn(active, "memory").values("id", "end_user_id", "type", "extractor", _VERSION)
        drawn = (_drawn(of_memories, memories), _draw_turns(EvaluationSample(kind=SampleKind.TURN, **blank)))
        samples = tuple(sample for sample in drawn if sample is not None)
        if not samples:
            raise Unfit("nothing was stored or said in the period that is not in a sample already", at="/since")
        for sample in samples:
            record(
                "sample_drawn",
                "evaluation_sample",
                sample.id,
                project_id=sample.project_id,
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


def _draw_turns(sample: EvaluationSample) -> EvaluationSample | None:
    """Draw of the turns whose text is still there; all turns are counted, by configuration version."""
    origins = MemoryOrigin.objects.standing().filter(end_user=OuterRef("end_user"), turn=OuterRef("pk"))
    said = Turn.objects.filter(
        trace__project_id=sample.project_id,
        trace__created_at__gte=sample.since,
        trace__created_at__lt=sample.until,
        trace__status__in=ENDED,
        role=Role.USER,
        withdrawn=False,
    ).annotate(has_memory=Exists(origins))
    readable = _not_drawn(said.filter(has_memory=False), "turn").exclude(content="")
    counted = (
        said.order_by()
        .values(_VERSION)
        .annotate(
            turns=Count("id"),
            passed=Count("id", filter=Q(rejected_for="") | Q(has_memory=True)),  # the pre-filter
            stored=Count("id", filter=Q(has_memory=True)),
        )
        .order_by(_VERSION)
    )
    sample.counts = [{"version": row.pop(_VERSION), **row} for row in counted]
    sample.population = sum(each["turns"] - each["stored"] for each in sample.counts)
    return _drawn(sample, readable.values("id", "end_user_id", _VERSION))


def _drawn(sample: EvaluationSample, rows: QuerySet[Any, dict[str, Any]]) -> EvaluationSample | None:
    """Store a sample of the rows with its items; None if there are no rows.

    They are ordered by a hash of their identifier and the seed: at random, but each time in the same way.
    """
    shuffled = rows.order_by(MD5(Concat(Cast("id", TextField()), Value(f":{sample.seed}"))), "id")
    found = list(shuffled[: SIZES[SampleKind(sample.kind)]])
    if not found:
        return None
    sample.save(force_insert=True)
    items = []
    for position, row in enumerate(found):
        item = EvaluationItem(end_user_id=row["end_user_id"], sample=sample, position=position, version=row[_VERSION])
        if sample.kind == SampleKind.MEMORY:
            extractor = row["extractor"]
            item.memory_id, item.memory_type = row["id"], row["type"]
            item.model = "plain" if extractor.startswith(PLAIN) else extractor or "direct"
        else:
            item.turn_id = row["id"]
        items.append(item)
    EvaluationItem.objects.bulk_create(items)
    return sample


def _not_drawn(rows: QuerySet[Any], thing: str) -> QuerySet[Any]:
    drawn = EvaluationItem.objects.filter(**{"end_user": OuterRef("end_user"), thing: OuterRef("pk")})
    return rows.filter(~Exists(drawn), end_user__erasing_since=None)


log = structlog.get_logger(__name__)


def draw_weekly_samples() -> int:
    """Draw the samples of the week that ended last, in UTC, where that is not done yet; return for how many projects.

    It may run at any time of the week: a day that was missed is made up for.
    """
    until = start_of(week_of(timezone.now()))
    with system_scope(SystemWork.SCHEDULE):
        done = EvaluationSample.objects.filter(since=until - WEEK, until=until).values("project_id")
        projects = list(Project.objects.exclude(id__in=done).values_list("id", flat=True))
    drawn = 0
    for project_id in projects:
        with tenant_scope(project_id=project_id):
            try:
                samples = draw_samples(project_id=project_id, since=until - WEEK, until=until)
            except Unfit:  # nothing happened in that week
                continue
        log.info("samples drawn", project=str(project_id), samples=[each.shown_id for each in samples])
        drawn += 1
    return drawn


def list_samples(*, project_id: UUID) -> QuerySet[EvaluationSample]:
    """Return the samples, newest first, with the numbers of items `drawn` and `labelled`."""
    return EvaluationSample.objects.filter(project_id=project_id).annotate(
        drawn=Count("items", distinct=True), labelled=Count("items__labels__item", distinct=True)
    )


def items_of(*, project_id: UUID, sample_id: UUID) -> QuerySet[EvaluationItem]:
    """Return the items of a sample with all that is shown of them. Raises NotFound."""
    get_or_refuse(EvaluationSample.objects.filter(project_id=project_id, id=sample_id), "sample")
    rows = EvaluationItem.objects.filter(sample_id=sample_id)
    return rows.select_related("end_user", "memory", "turn").prefetch_related("labels")


SHARED = 20  # items of each sample that every labeller is asked about, to see how far they agree


def items_to_label(*, project_id: UUID, kind: SampleKind | None = None) -> QuerySet[EvaluationItem]:
    """Return the items that the current actor has not labelled, in the order in which they should be.

    First the items of each sample that all labellers share, then those that nobody has labelled, then the rest; the
    newest week first, and memories before turns. Turns whose text is gone are left out.
    """
    labels = EvaluationLabel.objects.filter(end_user=OuterRef("end_user"), item=OuterRef("pk"))
    rows = EvaluationItem.objects.filter(
        ~Exists(labels.filter(labeller=current_actor())), sample__project_id=project_id
    )
    if kind is not None:
        rows = rows.filter(sample__kind=kind)
    rank = Case(
        When(position__lt=SHARED, then=Value(0)),
        When(Exists(labels), then=Value(2)),
        default=Value(1),
        output_field=IntegerField(),
    )
    ordered = rows.exclude(turn__content="").annotate(rank=rank)
    return ordered.order_by("rank", "-sample__week", "sample__kind", "-sample_id", "position")


def label_item(
    *, project_id: UUID, item_id: UUID, value: LabelValue, remembered_id: UUID | None = None
) -> EvaluationLabel:
    """Store what the current actor says about an item, in place of what the same actor said before.

    Raises NotFound, Unfit for a value that is for the other kind of item, Conflict while the end user is being erased.
    """
    item = find_item(project_id=project_id, item_id=item_id)
    if value not in LABEL_VALUES[item.kind]:
        raise Unfit(f"a {item.kind} can be {', '.join(LABEL_VALUES[item.kind])}", at="/value")
    with transaction.atomic():
        hold_end_user(item.end_user_id)
        said: dict[str, Any] = {"value": value, "created_at": timezone.now()}
        if remembered_id is not None:  # another label of the same item does not forget what was stored
            said["remembered_id"] = remembered_id
        label, _ = EvaluationLabel.objects.update_or_create(
            end_user_id=item.end_user_id, item=item, labeller=current_actor(), defaults=said
        )
    return label


def find_item(*, project_id: UUID, item_id: UUID) -> EvaluationItem:
    """Return an item of a project with its memory or turn. Raises NotFound."""
    rows = EvaluationItem.objects.select_related("sample", "end_user", "memory", "turn__session")
    return get_or_refuse(rows.filter(id=item_id, sample__project_id=project_id), "item")


_AS_STORED = 1  # the version of a memory that nobody has changed


def undo_label(*, project_id: UUID, item_id: UUID) -> None:
    """Remove the actor's own label of an item, and retract the memory that it stored.

    Raises NotFound, Conflict if that memory has been changed since.
    """
    with transaction.atomic():
        rows = EvaluationLabel.objects.filter(item__sample__project_id=project_id, item_id=item_id)
        found = rows.filter(labeller=current_actor()).first()
        if found is not None:
            hold_end_user(found.end_user_id)  # before the label, as whoever deletes turns does
        # Locked where the rows of its end user are, in a statement of its own.
        rows = EvaluationLabel.objects.select_for_update()
        label = found and rows.filter(end_user_id=found.end_user_id, id=found.id).first()
        if label is None:
            raise NotFound("there is no label of yours")
        if label.remembered_id is not None:
            retract(project_id=project_id, memory_id=label.remembered_id, expected_version=_AS_STORED)
        label.delete()


def remember_turn(*, project_id: UUID, item_id: UUID, content: str, type: MemoryType) -> EvaluationLabel:
    """Store a memory in the words of the labeller, active, with the turn as its quote, and label the turn as missed.

    What an active memory says already is not stored again. Raises NotFound, Unfit for an item that is no turn or whose
    text is gone, Conflict if the labeller has stored a memory of it before, or while the end user is being erased.
    """
    item = find_item(project_id=project_id, item_id=item_id)
    turn = item.turn
    if turn is None or not turn.content:
        raise Unfit("only a turn whose text is still there can be remembered")
    new = NewMemory(
        type=type,
        content=content,
        evidence=turn.content,
        said_at=turn.occurred_at or turn.received_at,
        session_id=turn.session.external_id,
        source_confidence=SourceConfidence.CONFIRMED,
        status=Status.ACTIVE,
    )
    known = Memory.objects.for_end_user(item.end_user_id).active().filter(content__iexact=content)
    with transaction.atomic():
        hold_end_user(item.end_user_id)  # the same labeller may ask twice at once
        if item.labels.filter(labeller=current_actor(), remembered_id__isnull=False).exists():
            raise Conflict("a memory of this turn is stored already")
        memory_id = None
        if not known.exists():
            request = StoreRequest(project_id, None, item.end_user.external_id, (new,))
            try:
                (stored,) = store_with_outcomes(request=request)
            except BadInput as bad:
                raise Unfit(f"the memory {bad}", at=bad.at) from bad
            memory_id = None if stored.result is StoreResult.MERGED else stored.memory_id
        return label_item(project_id=project_id, item_id=item.pk, value=LabelValue.SOMETHING, remembered_id=memory_id)


def export_labels(*, project_id: UUID) -> Iterator[str]:
    """Yield a line of JSON for each label, the oldest first, with the sentence or turn that it is about.

    The last line has the kind `end`; a file without it is not complete.
    """
    rows = EvaluationLabel.objects.filter(item__sample__project_id=project_id).select_related(
        "item__sample", "item__memory", "item__turn", "end_user"
    )
    for label in streamed_rows(rows.order_by("id"), project_id=project_id):
        item = label.item
        memory, turn = item.memory, item.turn
        line = {
            "sample_id": item.sample.shown_id,
            "week": item.sample.week,
            "item_id": item.shown_id,
            "kind": item.kind,
            "user_id": label.end_user.external_id,
            "memory_id": memory.shown_id if memory else None,
            "turn_id": turn.shown_id if turn else None,
            "content": item.content,
            "evidence": memory.evidence if memory else None,
            "memory_type": item.memory_type or None,
            "model": item.model or None,
            "version": item.version,
            "labeller": label.labeller,
            "value": label.value,
            "remembered_memory_id": show(Prefix.MEMORY, label.remembered_id) if label.remembered_id else None,
            "labelled_at": label.created_at,
        }
        yield msgspec.json.encode(line).decode() + "\n"
    yield '{"kind":"end"}\n'
