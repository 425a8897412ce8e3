"""Schemas of /v1/evaluation."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from msgspec import Meta

from apps.actions.evaluation.figures import (
    MOST_WEEKS,
    WEEKS,
    EvaluationFigures,
    EvaluationOverview,
    EvaluationWarning,
    evaluation_warnings,
)
from apps.actions.evaluation.retrieval import RetrievalFigures
from apps.actions.evaluation.samples import CountedSample
from apps.api.schemas.actors import ActorResponse, actor_response
from apps.api.schemas.common import DayEnd, DayStart, Limit, Moment, QueryParameters, RequestBody, ResponseBody
from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import LabelValue, SampleKind
from apps.pipeline.core.identifiers import Prefix, show

Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class EvaluationQuery(QueryParameters):
    """The weeks of the figures, the running one included."""

    weeks: Annotated[int, Meta(ge=1, le=MOST_WEEKS)] = WEEKS


class SamplesQuery(QueryParameters):
    """Filter and paging of the samples."""

    kind: SampleKind | None = None
    cursor: str | None = None
    limit: Limit = 50


class SampleItemsQuery(QueryParameters):
    """Paging of the items of a sample."""

    cursor: str | None = None
    limit: Limit = 50


class SamplesBody(RequestBody):
    """A period to draw samples from, by default the last seven days; the same seed draws the same rows."""

    since: DayStart | None = None
    until: DayEnd | None = None
    seed: Seed | None = None


class LabelBody(RequestBody):
    """What the caller says about an item, in place of what it said before.

    A memory is `good` if it is true, current and useful for a plausible later query, else `untrue`, `outdated` or
    `useless`: the first quality that it lacks. A turn contains `something` worth remembering or `nothing`. What the
    caller can't tell is `skipped`.
    """

    value: LabelValue


class EvaluationResponse(ResponseBody):
    """Figures of the last weeks in total and by week, configuration version, model and memory type.

    Shares have the limits of 95 % confidence. A turn with nothing stored has neither model nor memory type, so that
    recall is given in total, by week and by version. `warnings` are about the latest week with labels. `retrieval` is
    about the memories that agents were told for the first time in as many weeks, 30 days earlier.
    """

    total: EvaluationFigures
    weeks: dict[str, EvaluationFigures]
    versions: dict[str, EvaluationFigures]
    models: dict[str, EvaluationFigures]
    memory_types: dict[str, EvaluationFigures]
    warnings: list[EvaluationWarning]
    retrieval: RetrievalFigures


class SampleResponse(ResponseBody):
    """A sample: how many rows it could have been drawn from, were drawn, and have a label."""

    id: str
    kind: SampleKind
    week: date
    since: Moment
    until: Moment
    seed: int
    population: int
    drawn: int
    labelled: int
    created_by: ActorResponse
    created_at: Moment


class SampleList(ResponseBody):
    """Samples, newest first."""

    next: str | None
    previous: str | None
    results: list[SampleResponse]


class DrawnSamplesResponse(ResponseBody):
    """The samples that were drawn: of memories, of turns, or both."""

    results: list[SampleResponse]


class LabelResponse(ResponseBody):
    """A label: person or key, and what it says."""

    labeller: ActorResponse
    value: LabelValue
    remembered_memory_id: str | None
    labelled_at: Moment


class SampleItemResponse(ResponseBody):
    """An item: a memory with its quote, or a turn, and all its labels."""

    id: str
    kind: SampleKind
    position: int
    user_id: str
    memory_id: str | None
    turn_id: str | None
    content: str
    evidence: str
    memory_type: str
    model: str
    version: int | None
    labels: list[LabelResponse]


class SampleItemList(ResponseBody):
    """Items of a sample in the order of the draw."""

    next: str | None
    previous: str | None
    results: list[SampleItemResponse]


def evaluation_response(overview: EvaluationOverview) -> EvaluationResponse:
    """Convert figures."""
    latest = list(overview.weeks.values())[-1:]
    return EvaluationResponse(
        total=overview.total,
        weeks=_by_name(overview.weeks),
        versions=_by_name(overview.versions),
        models=_by_name(overview.models),
        memory_types=_by_name(overview.memory_types),
        warnings=[warning for figures in latest for warning in evaluation_warnings(figures=figures)],
        retrieval=overview.retrieval,
    )


def sample_response(counted: CountedSample) -> SampleResponse:
    """Convert a sample with the numbers of its items."""
    sample = counted.sample
    return SampleResponse(
        id=sample.shown_id,
        kind=SampleKind(sample.kind),
        week=sample.week,
        since=sample.since,
        until=sample.until,
        seed=sample.seed,
        population=sample.population,
        drawn=counted.drawn,
        labelled=counted.labelled,
        created_by=actor_response(sample.actor),
        created_at=sample.created_at,
    )


def sample_item_response(item: EvaluationItem) -> SampleItemResponse:
    """Convert an item with its memory or turn, and its labels."""
    memory, turn = item.memory, item.turn
    return SampleItemResponse(
        id=item.shown_id,
        kind=item.kind,
        position=item.position,
        user_id=item.end_user.external_id,
        memory_id=memory.shown_id if memory else None,
        turn_id=turn.shown_id if turn else None,
        content=item.content,
        evidence=memory.evidence if memory else "",
        memory_type=item.memory_type,
        model=item.model,
        version=item.version,
        labels=[label_response(label) for label in item.labels.all()],
    )


def label_response(label: EvaluationLabel) -> LabelResponse:
    """Convert a label."""
    return LabelResponse(
        labeller=actor_response(label.labeller),
        value=LabelValue(label.value),
        remembered_memory_id=show(Prefix.MEMORY, label.remembered_id) if label.remembered_id else None,
        labelled_at=label.created_at,
    )


def _by_name(groups: Mapping[Any, EvaluationFigures]) -> dict[str, EvaluationFigures]:
    return {str(group): figures for group, figures in groups.items()}
