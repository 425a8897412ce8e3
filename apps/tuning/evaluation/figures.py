"""Figures of quality from labels, with their targets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from itertools import combinations
from math import sqrt
from operator import attrgetter
from statistics import NormalDist
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, IntegerField, OuterRef, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from apps.memories.models import EvaluationItem, EvaluationSample, Memory, MemoryLink, MemoryVersion
from apps.pipeline.core.enums import LabelValue, LinkKind, SampleKind, Status
from apps.review.services import APPROVALS
from apps.traces.funnel_metrics import Band, RatioHealth
from apps.tuning.evaluation.samples import week_of

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole with the limits between which it lies at 95 % confidence; all None if the whole is empty."""

    part: float
    whole: float
    value: float | None = None
    low: float | None = None
    high: float | None = None


def share_of(*, part: int, whole: int, confidence: float = CONFIDENCE) -> Share:
    """Return a share with its Wilson score interval.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927). With z for the confidence, the centre is (p + z²/2n) / (1 + z²/n) and
    the half width z / (1 + z²/n) · √(p(1−p)/n + z²/4n²). It stays between 0 and 1, and holds for small samples and for
    shares near 0 or 1.
    """
    if not whole:
        return Share(part, whole)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    value, scale = part / whole, 1 + z * z / whole
    centre = (value + z * z / (2 * whole)) / scale
    half = z / scale * sqrt(value * (1 - value) / whole + z * z / (4 * whole * whole))
    # Exact at the ends, where rounding would leave a limit beside the value.
    low = 0.0 if part == 0 else centre - half
    high = 1.0 if part == whole else centre + half
    return Share(part, whole, value, low, high)


MIN_LABELLED = 30  # fewer labels, or turns, say nothing about health


class Figure(StrEnum):
    """A figure that has a target."""

    PRECISION = "precision"
    RECALL = "recall"
    ZERO_EXTRACTION = "zero_extraction"


TARGETS: dict[Figure, Band] = {
    Figure.PRECISION: Band(0.80, 1.0, alert_below=0.70),
    Figure.RECALL: Band(0.60, 1.0),
    Figure.ZERO_EXTRACTION: Band(0.0, 0.55),
}


@dataclass(frozen=True, slots=True)
class FigureReading:
    """The value of a figure from 0 to 1 and where it lies; it is unknown if fewer than MIN_LABELLED tell it."""

    figure: Figure
    value: float | None
    health: RatioHealth

    @property
    def band(self) -> Band:
        """Return its target."""
        return TARGETS[self.figure]

    @property
    def misses_target(self) -> bool:
        """Return True if it lies outside of its target."""
        return self.health in (RatioHealth.OUTSIDE, RatioHealth.ALERT)

    @property
    def is_alert(self) -> bool:
        """Return True if it is so far off that somebody has to look at it now."""
        return self.health is RatioHealth.ALERT

    @property
    def limit(self) -> float:
        """Return the limit of the target that it misses, or is nearest to."""
        return self.band.low if self.value is not None and self.value < self.band.low else self.band.high


@dataclass(frozen=True, slots=True)
class RecallEstimate:
    """An estimated recall with its limits, and what it was computed from; None where a sample has no labels."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    found: float = 0.0  # turns that gave a good memory, estimated
    missed: float = 0.0  # turns with something worth remembering of which nothing was stored, estimated


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa of the two labellers who share the most items; None if all labels are the same."""

    labellers: tuple[str, str]
    items: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class EvaluationFigures:
    """The figures of a set of labelled items and the turns that they were drawn from."""

    precision: Share
    recall: RecallEstimate
    missed: Share  # of the turns with nothing stored, those with something worth remembering
    zero_extraction: Share  # of the turns that passed the pre-filter, those with nothing stored; counted
    agreement: Mapping[SampleKind, Agreement] = field(default_factory=dict)
    failures: Mapping[LabelValue, int] = field(default_factory=dict)  # labels of memories that are not good


def readings_of(figures: EvaluationFigures) -> tuple[FigureReading, ...]:
    """Compare each figure with its target."""
    recall = figures.recall.value
    values = {
        Figure.PRECISION: (figures.precision.value, figures.precision.whole),
        Figure.RECALL: (recall, min(figures.precision.whole, figures.missed.whole)),
        Figure.ZERO_EXTRACTION: (figures.zero_extraction.value, figures.zero_extraction.whole),
    }
    return tuple(
        FigureReading(figure, value, TARGETS[figure].health_of(value, is_known=told >= MIN_LABELLED))
        for figure, (value, told) in values.items()
    )


Labels = Sequence[tuple[str, LabelValue]]  # labeller and label


def cohens_kappa(pairs: Sequence[tuple[LabelValue, LabelValue]]) -> float | None:
    """Return (po − pe) / (1 − pe): observed agreement po, agreement pe that the labellers' own frequencies give.

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20
    (1960). 1 is perfect, 0 is chance. None where chance alone gives perfect agreement, or without pairs.
    """
    if not pairs:
        return None
    total = len(pairs)
    observed = sum(one is other for one, other in pairs) / total
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    by_chance = sum(count * second[value] for value, count in first.items()) / total**2
    return None if by_chance == 1 else (observed - by_chance) / (1 - by_chance)


def agreement_of(items: Iterable[Labels]) -> Agreement | None:
    """Return the agreement of the two labellers who share the most items; None if no item has two labels."""
    shared: dict[tuple[str, str], list[tuple[LabelValue, LabelValue]]] = {}
    for labels in items:
        for (one, first), (other, second) in combinations(sorted(labels), 2):
            shared.setdefault((one, other), []).append((first, second))
    if not shared:
        return None
    labellers = min(shared, key=lambda pair: (-len(shared[pair]), pair))
    return Agreement(labellers, len(shared[labellers]), cohens_kappa(shared[labellers]))


FAILURES = (LabelValue.UNTRUE, LabelValue.OUTDATED, LabelValue.USELESS)


@dataclass(frozen=True, slots=True)
class TurnCounts:
    """The turns of users in a week under one configuration version, which all are known: nothing is estimated."""

    week: date
    version: int
    turns: int
    passed: int  # the pre-filter
    stored: int  # of which at least one memory was stored


def figures_of(*, items: Sequence[EvaluationItem], counts: Sequence[TurnCounts] = ()) -> EvaluationFigures:
    """Compute all figures of items and of the turns of the same weeks and versions."""
    memories = [item for item in items if item.kind is SampleKind.MEMORY]
    turns = [item for item in items if item.kind is SampleKind.TURN]
    agreements = {kind: agreement_of(each.told for each in items if each.kind is kind) for kind in SampleKind}
    passed, stored = sum(each.passed for each in counts), sum(each.stored for each in counts)
    failures: Counter[LabelValue] = Counter()
    for item in (each for each in memories if each.is_good is False):
        # Of several labels the most frequent, else the first.
        told = Counter(value for _, value in item.told)
        failures[max(FAILURES, key=lambda value: told[value])] += 1
    return EvaluationFigures(
        precision=_good(memories),
        recall=recall_of(memories=memories, turns=turns, counts=counts),
        missed=_good(turns, is_good=False),
        zero_extraction=Share(passed - stored, passed, (passed - stored) / passed if passed else None),
        agreement={kind: found for kind, found in agreements.items() if found is not None},
        failures={value: failures[value] for value in FAILURES if failures[value]},
    )


def recall_of(
    *, memories: Sequence[EvaluationItem], turns: Sequence[EvaluationItem], counts: Sequence[TurnCounts]
) -> RecallEstimate:
    """Estimate which fraction of the turns with something worth storing produced at least one memory.

    recall = S·p / (S·p + Z·m), where of the turns of users S gave a memory and Z gave none (both counted), p is the
    precision of the labelled memories and m the labelled share of the turns with nothing stored that contain something.
    It rises with p and falls with m, so its limits come from the opposite limits of the two Wilson intervals. Each of
    these has a confidence of 97.5 %, so that both hold together with at least 95 % (Bonferroni's inequality).
    """
    with_memory = sum(each.stored for each in counts)
    without = sum(each.turns for each in counts) - with_memory
    each_confidence = (1 + CONFIDENCE) / 2
    good, missed = _good(memories, confidence=each_confidence), _good(turns, confidence=each_confidence, is_good=False)
    if good.value is None or good.low is None or good.high is None:
        return RecallEstimate()
    if missed.value is None or missed.low is None or missed.high is None:
        return RecallEstimate()
    return RecallEstimate(
        value=_ratio(with_memory * good.value, without * missed.value),
        low=_ratio(with_memory * good.low, without * missed.high),
        high=_ratio(with_memory * good.high, without * missed.low),
        found=with_memory * good.value,
        missed=without * missed.value,
    )


def figures_by(
    group: str, *, items: Sequence[EvaluationItem], counts: Sequence[TurnCounts] = ()
) -> dict[Any, EvaluationFigures]:
    """Compute the figures by one of the fields, in the order of its values; None and no text are no group."""
    of_item, of_counts = attrgetter("sample.week" if group == "week" else group), attrgetter(group)
    values = {*map(of_item, items), *map(of_counts, counts)} - {None, ""}
    return {
        value: figures_of(
            items=[each for each in items if of_item(each) == value],
            counts=[each for each in counts if of_counts(each) == value],
        )
        for value in sorted(values)
    }


def _good(items: Sequence[EvaluationItem], *, confidence: float = CONFIDENCE, is_good: bool = True) -> Share:
    """Return the share of the items that labellers call good, or not good, among those that they could judge."""
    told = [each.is_good for each in items if each.is_good is not None]
    return share_of(part=told.count(is_good), whole=len(told), confidence=confidence)


def _ratio(found: float, missed: float) -> float | None:
    return found / (found + missed) if found + missed else None


HORIZON = timedelta(days=30)  # after a memory was told for the first time


@dataclass(frozen=True, slots=True)
class RetrievalFigures:
    """The memories that were told, by what became of them; one may count for several outcomes.

    `precision` is the share of those that were confirmed among those of which anything was heard again.
    """

    told: int
    confirmed: int
    contradicted: int
    superseded: int
    precision: Share


def read_retrieval(*, project_id: UUID, weeks: int, now: datetime) -> RetrievalFigures:
    """Count the outcomes of the memories that were told for the first time in the weeks before the last 30 days.

    When a memory was told is counted in batches after the search (`count_accesses`): see `Memory.first_accessed`.
    """
    latest = now - HORIZON
    told = Memory.objects.for_project(project_id).filter(
        first_accessed__gt=latest - timedelta(weeks=weeks), first_accessed__lte=latest
    )
    first = OuterRef("first_accessed")
    versions = MemoryVersion.objects.filter(
        end_user=OuterRef("end_user"), memory=OuterRef("pk"), known_until__gt=first, known_until__lte=first + HORIZON
    )
    said_again = Q(operation="merged", recurrence_before__lt=OuterRef("recurrence"))
    recurrence = Cast(KeyTextTransform("recurrence", "values"), IntegerField())
    confirmations = versions.annotate(recurrence_before=recurrence).filter(said_again | Q(operation__in=APPROVALS))
    contradictions = MemoryLink.objects.filter(
        Q(from_memory=OuterRef("pk")) | Q(to_memory=OuterRef("pk")),
        end_user=OuterRef("end_user"),
        kind=LinkKind.CONTRADICTS,
        created_at__gt=first,
        created_at__lte=first + HORIZON,
    )
    closed = Exists(versions.filter(operation="superseded"))
    # A later objection outweighs a confirmation.
    confirmed, wrong = Q(was_confirmed=True), Q(was_contradicted=True) | Q(was_superseded=True)
    counts = told.annotate(
        was_confirmed=Exists(confirmations),
        was_contradicted=Exists(contradictions),
        was_superseded=Q(closed, status=Status.SUPERSEDED, superseded_by__isnull=False),
    ).aggregate(
        told=Count("id"),
        confirmed=Count("id", filter=confirmed),
        contradicted=Count("id", filter=Q(was_contradicted=True)),
        superseded=Count("id", filter=Q(was_superseded=True)),
        right=Count("id", filter=confirmed & ~wrong),
        heard_of=Count("id", filter=confirmed | wrong),
    )
    precision = share_of(part=counts.pop("right"), whole=counts.pop("heard_of"))
    return RetrievalFigures(**counts, precision=precision)


WEEKS = 12  # by default, the running one included
MOST_WEEKS = 104
LATEST_WEEKS = 4  # a week that was labelled longer ago says nothing about now


@dataclass(slots=True)
class LabelledWeeks:
    """The labelled items of a project, and the turns of the weeks in which samples were drawn."""

    items: list[EvaluationItem] = field(default_factory=list)
    counts: list[TurnCounts] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EvaluationOverview:
    """The figures of the last weeks as a whole, and by group; recall only where turns belong to a group."""

    total: EvaluationFigures
    weeks: Mapping[date, EvaluationFigures]
    versions: Mapping[int, EvaluationFigures]
    models: Mapping[str, EvaluationFigures]
    memory_types: Mapping[str, EvaluationFigures]
    retrieval: RetrievalFigures  # of the memories that were told for the first time in as many weeks, 30 days earlier

    @property
    def warnings(self) -> list[FigureReading]:
        """Return the targets that the latest week with labels misses."""
        latest = list(self.weeks.values())[-1:]
        return [reading for figures in latest for reading in readings_of(figures) if reading.misses_target]


def read_figures(*, project_id: UUID, weeks: int = WEEKS) -> EvaluationOverview:
    """Compute the figures of a project over the last weeks."""
    found = labelled_weeks(weeks=weeks, project_id=project_id).get(project_id, LabelledWeeks())
    memories = [item for item in found.items if item.kind is SampleKind.MEMORY]
    return EvaluationOverview(
        total=figures_of(items=found.items, counts=found.counts),
        weeks=figures_by("week", items=found.items, counts=found.counts),
        versions=figures_by("version", items=found.items, counts=found.counts),
        models=figures_by("model", items=memories),
        memory_types=figures_by("memory_type", items=memories),
        retrieval=read_retrieval(project_id=project_id, weeks=weeks, now=timezone.now()),
    )


def labelled_weeks(*, weeks: int, project_id: UUID | None = None) -> dict[UUID, LabelledWeeks]:
    """Read labels and counts of the last weeks (three queries); of one project, or within the system scope of all."""
    of_project = {} if project_id is None else {"project_id": project_id}
    first = week_of(timezone.now()) - timedelta(weeks=weeks - 1)  # the running one is the last
    samples = EvaluationSample.objects.filter(week__gte=first, **of_project)
    found: dict[UUID, LabelledWeeks] = {}
    items = EvaluationItem.objects.filter(sample__in=samples, labels__isnull=False).distinct()
    for item in items.select_related("sample").prefetch_related("labels"):
        found.setdefault(item.sample.project_id, LabelledWeeks()).items.append(item)
    # The last sample of turns of each week knows all of its turns that the others know.
    turns = samples.filter(kind=SampleKind.TURN).order_by("until", "id")
    for sample in {(each.project_id, each.week): each for each in turns}.values():
        counts = [TurnCounts(week=sample.week, **each) for each in sample.counts]
        found.setdefault(sample.project_id, LabelledWeeks()).counts += counts
    return found


def latest_figures(found: LabelledWeeks) -> EvaluationFigures | None:
    """Return the figures of the latest week with labels."""
    week = max((item.sample.week for item in found.items), default=None)
    if week is None:
        return None
    return figures_by("week", items=found.items, counts=found.counts)[week]
