"""Views of /v1/evaluation, for keys with scope admin."""

from datetime import date
from typing import Annotated

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from msgspec import Meta
from rest_framework.request import Request

from apps.api.actors import ActorResponse, actor_response
from apps.api.operations import operation
from apps.api.problems import Code
from apps.api.schemas import (
    DayEnd,
    DayStart,
    Moment,
    PageBody,
    PageQuery,
    QueryParameters,
    RequestBody,
    ResponseBody,
    response_of,
)
from apps.api.validation import read_id
from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample
from apps.pipeline.core.enums import LabelValue, SampleKind
from apps.pipeline.core.identifiers import Prefix, show
from apps.tuning.api.admin_view import AdminView
from apps.tuning.evaluation.figures import (
    MOST_WEEKS,
    WEEKS,
    EvaluationFigures,
    EvaluationWarning,
    RetrievalFigures,
    evaluation_warnings,
    read_figures,
)
from apps.tuning.evaluation.samples import draw_samples, export_labels, items_of, label_item, list_samples

Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class EvaluationQuery(QueryParameters):
    """The weeks of the figures, the running one included."""

    weeks: Annotated[int, Meta(ge=1, le=MOST_WEEKS)] = WEEKS


class SamplesQuery(PageQuery):
    """Filter and paging of the samples."""

    kinds: tuple[SampleKind, ...] = ()


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


class SampleList(PageBody):
    """Samples, newest first."""

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


class SampleItemList(PageBody):
    """Items of a sample in the order of the draw."""

    results: list[SampleItemResponse]


def sample_response(sample: EvaluationSample) -> SampleResponse:
    """Convert a sample of `list_samples`."""
    return response_of(
        SampleResponse,
        sample,
        id=sample.shown_id,
        kind=SampleKind(sample.kind),
        created_by=actor_response(sample.actor),
    )


def sample_item_response(item: EvaluationItem) -> SampleItemResponse:
    """Convert an item with its memory or turn, and its labels."""
    memory, turn = item.memory, item.turn
    return response_of(
        SampleItemResponse,
        item,
        id=item.shown_id,
        user_id=item.end_user.external_id,
        memory_id=memory.shown_id if memory else None,
        turn_id=turn.shown_id if turn else None,
        evidence=memory.evidence if memory else "",
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


class EvaluationView(AdminView):
    """The figures of the project."""

    @operation("get_evaluation", summary="Get precision, recall and their companions")
    def get(self, request: Request, query: EvaluationQuery) -> EvaluationResponse:
        """Return what the labels of the last weeks tell about the quality of what is stored."""
        overview = read_figures(project_id=self.caller.project_id, weeks=query.weeks)
        latest = list(overview.weeks.values())[-1:]
        return response_of(
            EvaluationResponse,
            overview,
            weeks={str(week): figures for week, figures in overview.weeks.items()},
            versions={str(number): figures for number, figures in overview.versions.items()},
            warnings=[warning for figures in latest for warning in evaluation_warnings(figures=figures)],
        )


class SamplesView(AdminView):
    """The samples of the project."""

    @operation("list_samples", summary="List samples")
    def get(self, request: Request, query: SamplesQuery) -> SampleList:
        """List the samples, newest first. Those of a week are drawn by themselves when it has ended."""
        rows = list_samples(project_id=self.caller.project_id)
        if query.kinds:
            rows = rows.filter(kind__in=query.kinds)
        return self.page(SampleList, rows, sample_response, limit=query.limit)

    @operation("draw_samples", summary="Draw samples now", status=201, example={}, repeatable=True)
    def post(self, request: Request, body: SamplesBody) -> DrawnSamplesResponse:
        """Draw up to 100 active memories that were added in a period, and 50 turns of users with nothing stored.

        A memory or turn that is in a sample already is not drawn again.
        """
        project_id = self.caller.project_id
        samples = draw_samples(project_id=project_id, since=body.since, until=body.until, seed=body.seed)
        drawn = {sample.pk for sample in samples}
        rows = list_samples(project_id=project_id).filter(id__in=drawn).order_by("id")
        return DrawnSamplesResponse(results=[sample_response(each) for each in rows])


class SampleItemsView(AdminView):
    """The items of a sample."""

    @operation("list_sample_items", summary="List the items of a sample", problems=[Code.NOT_FOUND])
    def get(self, request: Request, sample_id: str, query: PageQuery) -> SampleItemList:
        """List the memories or turns of a sample in the order of the draw, with their labels."""
        rows = items_of(project_id=self.caller.project_id, sample_id=read_id(Prefix.EVALUATION_SAMPLE, sample_id))
        return self.page(SampleItemList, rows, sample_item_response, limit=query.limit, ordering="position")


class ItemLabelsView(AdminView):
    """The labels of an item."""

    @operation(
        "label_item",
        summary="Label an item",
        status=201,
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"value": "good"},
        repeatable=True,
    )
    def post(self, request: Request, item_id: str, body: LabelBody) -> LabelResponse:
        """Store what the caller says about an item; a second label of the same key replaces its first."""
        wanted = read_id(Prefix.EVALUATION_ITEM, item_id)
        return label_response(label_item(project_id=self.caller.project_id, item_id=wanted, value=body.value))


class LabelsView(AdminView):
    """All labels of the project."""

    @operation("export_labels", summary="Export all labels", responses={(200, "application/jsonl"): OpenApiTypes.STR})
    def get(self, request: Request) -> StreamingHttpResponse:
        """Return one JSON object per label and line: the item with its sentence, who labelled it, and how.

        The last line is `{"kind": "end"}`: without it, the answer was broken off and is not complete.
        """
        lines = export_labels(project_id=self.caller.project_id)
        return StreamingHttpResponse(lines, content_type="application/jsonl")
