"""Views of /v1/evaluation, for keys with scope admin."""

from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from apps.actions.evaluation.figures import read_figures
from apps.actions.evaluation.samples import (
    WEEK,
    DrawRequest,
    Labeller,
    counted,
    draw_samples,
    export_labels,
    items_of,
    label_item,
    list_samples,
)
from apps.api.openapi import documented
from apps.api.pagination import Pages
from apps.api.problems import Code
from apps.api.schemas.evaluation import (
    DrawnSamplesResponse,
    EvaluationQuery,
    EvaluationResponse,
    LabelBody,
    LabelResponse,
    SampleItemList,
    SampleItemsQuery,
    SampleList,
    SamplesBody,
    SamplesQuery,
    evaluation_response,
    label_response,
    sample_item_response,
    sample_response,
)
from apps.api.validation import read_body, read_id, read_query
from apps.api.views.base import ApiView, http_response, replayable_answer, to_json
from apps.intake.idempotency import ReplayableAnswer as ReplayableAnswer
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix

_READS = {"GET": Scope.ADMIN, "HEAD": Scope.ADMIN}


class EvaluationView(ApiView):
    """The figures of the project."""

    scopes = _READS

    @documented(
        operation="get_evaluation",
        summary="Get precision, recall and their companions",
        query=EvaluationQuery,
        responses={200: EvaluationResponse},
    )
    def get(self, request: Request) -> Response:
        """Return what the labels of the last weeks tell about the quality of what is stored."""
        query = read_query(request, EvaluationQuery)
        overview = read_figures(project_id=self.caller.project_id, weeks=query.weeks)
        return Response(to_json(evaluation_response(overview)))


class SamplesView(ApiView):
    """The samples of the project."""

    scopes = {**_READS, "POST": Scope.ADMIN}

    @documented(operation="list_samples", summary="List samples", query=SamplesQuery, responses={200: SampleList})
    def get(self, request: Request) -> Response:
        """List the samples, newest first. Those of a week are drawn by themselves when it has ended."""
        query = read_query(request, SamplesQuery)
        rows = list_samples(project_id=self.caller.project_id)
        pages = Pages(limit=query.limit)
        found = pages.read(rows.filter(kind=query.kind) if query.kind else rows, request)
        return Response(
            to_json(SampleList(results=[sample_response(each) for each in counted(found)], **pages.links()))
        )

    @documented(
        operation="draw_samples",
        summary="Draw samples now",
        body=SamplesBody,
        responses={201: DrawnSamplesResponse},
        example={},
        repeatable=True,
    )
    def post(self, request: Request) -> HttpResponse:
        """Draw up to 100 active memories that were added in a period, and 50 turns of users with nothing stored.

        A memory or turn that is in a sample already is not drawn again.
        """
        body = read_body(request, SamplesBody)
        return http_response(self.idempotent(lambda: self._drawn(body)))

    def _drawn(self, body: SamplesBody) -> ReplayableAnswer:
        project_id, until = self.caller.project_id, body.until or timezone.now()
        wanted = DrawRequest(project_id, since=body.since or until - WEEK, until=until, seed=body.seed)
        drawn = {sample.pk for sample in draw_samples(request=wanted)}
        rows = list_samples(project_id=project_id).filter(id__in=drawn).order_by("id")
        return replayable_answer(
            DrawnSamplesResponse(results=[sample_response(each) for each in counted(rows)]), status=201
        )


class SampleItemsView(ApiView):
    """The items of a sample."""

    scopes = _READS

    @documented(
        operation="list_sample_items",
        summary="List the items of a sample",
        query=SampleItemsQuery,
        responses={200: SampleItemList},
        problems=[Code.NOT_FOUND],
    )
    def get(self, request: Request, sample_id: str) -> Response:
        """List the memories or turns of a sample in the order of the draw, with their labels."""
        query = read_query(request, SampleItemsQuery)
        rows = items_of(project_id=self.caller.project_id, sample_id=read_id(Prefix.EVALUATION_SAMPLE, sample_id))
        pages = Pages(limit=query.limit, ordering="position")
        results = [sample_item_response(item) for item in pages.read(rows, request)]
        return Response(to_json(SampleItemList(results=results, **pages.links())))


class ItemLabelsView(ApiView):
    """The labels of an item."""

    scopes = {"POST": Scope.ADMIN}

    @documented(
        operation="label_item",
        summary="Label an item",
        body=LabelBody,
        responses={201: LabelResponse},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"value": "good"},
        repeatable=True,
    )
    def post(self, request: Request, item_id: str) -> HttpResponse:
        """Store what the caller says about an item; a second label of the same key replaces its first."""
        body = read_body(request, LabelBody)
        wanted = read_id(Prefix.EVALUATION_ITEM, item_id)
        by = Labeller(self.caller.project_id, api_key_id=self.caller.api_key_id)

        def labelled() -> ReplayableAnswer:
            return replayable_answer(label_response(label_item(by=by, item_id=wanted, value=body.value)), status=201)

        return http_response(self.idempotent(labelled))


class LabelsView(ApiView):
    """All labels of the project."""

    scopes = _READS

    @documented(
        operation="export_labels",
        summary="Export all labels",
        responses={(200, "application/jsonl"): OpenApiTypes.STR},
    )
    def get(self, request: Request) -> StreamingHttpResponse:
        """Return one JSON object per label and line: the item with its sentence, who labelled it, and how.

        The last line is `{"kind": "end"}`: without it, the answer was broken off and is not complete.
        """
        lines = export_labels(project_id=self.caller.project_id)
        return StreamingHttpResponse(lines, content_type="application/jsonl")
