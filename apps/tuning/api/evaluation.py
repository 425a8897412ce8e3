"""Endpoints /v1/evaluation, for keys with scope admin."""

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.actors import ActorSerializer
from apps.api.problems import Code
from apps.api.serializers import (
    OPTIONAL,
    ApiModelSerializer,
    ApiSerializer,
    DayEndField,
    DayStartField,
    EnumField,
    PageQuery,
    PublicIdField,
    QuerySerializer,
    serializer_of,
)
from apps.api.validation import read_id
from apps.api.viewsets import ApiViewSet, operation
from apps.memories.models import EvaluationItem, EvaluationLabel, EvaluationSample
from apps.pipeline.core.enums import LabelValue, SampleKind, Scope
from apps.pipeline.core.identifiers import Prefix
from apps.tuning.evaluation.figures import (
    MOST_WEEKS,
    WEEKS,
    EvaluationFigures,
    Figure,
    RetrievalFigures,
    read_figures,
)
from apps.tuning.evaluation.samples import draw_samples, export_labels, items_of, label_item, list_samples


class EvaluationQuery(QuerySerializer):
    """The weeks of the figures, the running one included."""

    weeks = serializers.IntegerField(min_value=1, max_value=MOST_WEEKS, default=WEEKS)


class SamplesQuery(PageQuery):
    """Filter and paging of the samples."""

    kinds = serializers.ListField(child=EnumField(SampleKind), default=list)


FiguresSerializer = serializer_of(EvaluationFigures)


@extend_schema_serializer(component_name="EvaluationWarning")
class EvaluationWarningSerializer(ApiSerializer):
    """A figure that misses its target; `is_alert` if it is so far off that somebody has to look at it now."""

    figure = EnumField(Figure)
    value = serializers.FloatField()
    limit = serializers.FloatField()
    is_alert = serializers.BooleanField()


class EvaluationSerializer(ApiSerializer):
    """Figures of the last weeks in total and by week, configuration version, model and memory type.

    Shares have the limits of 95 % confidence. A turn with nothing stored has neither model nor memory type, so that
    recall is given in total, by week and by version. `warnings` are about the latest week with labels. `retrieval` is
    about the memories that agents were told for the first time in as many weeks, 30 days earlier.
    """

    total = FiguresSerializer()
    weeks = serializers.DictField(child=FiguresSerializer())
    versions = serializers.DictField(child=FiguresSerializer())
    models = serializers.DictField(child=FiguresSerializer())
    memory_types = serializers.DictField(child=FiguresSerializer())
    warnings = EvaluationWarningSerializer(many=True)
    retrieval = serializer_of(RetrievalFigures)()


class SampleSerializer(ApiModelSerializer):
    """A sample: how many rows it could have been drawn from, were drawn, and have a label."""

    id = serializers.CharField(source="shown_id")
    kind = EnumField(SampleKind)
    drawn = serializers.IntegerField()
    labelled = serializers.IntegerField()
    created_by = ActorSerializer(source="actor")

    class Meta:
        model = EvaluationSample
        fields = [
            *("id", "kind", "week", "since", "until", "seed", "population", "drawn", "labelled", "created_by"),
            "created_at",
        ]


class DrawnSamplesSerializer(ApiSerializer):
    """The samples that were drawn: of memories, of turns, or both."""

    results = SampleSerializer(many=True)


@extend_schema_serializer(component_name="SamplesBody")
class NewSamplesSerializer(ApiSerializer):
    """A period to draw samples from, by default the last seven days; the same seed draws the same rows."""

    since = DayStartField(**OPTIONAL)
    until = DayEndField(**OPTIONAL)
    seed = serializers.IntegerField(min_value=0, max_value=2**63 - 1, **OPTIONAL)


@extend_schema_serializer(component_name="LabelBody")
class NewLabelSerializer(ApiSerializer):
    """What the caller says about an item, in place of what it said before.

    A memory is `good` if it is true, current and useful for a plausible later query, else `untrue`, `outdated` or
    `useless`: the first quality that it lacks. A turn contains `something` worth remembering or `nothing`. What the
    caller can't tell is `skipped`.
    """

    value = EnumField(LabelValue)


class LabelSerializer(ApiModelSerializer):
    """A label: person or key, and what it says."""

    labeller = ActorSerializer()
    value = EnumField(LabelValue)
    remembered_memory_id = PublicIdField(Prefix.MEMORY, source="remembered_id", allow_null=True)
    labelled_at = serializers.DateTimeField(source="created_at")

    class Meta:
        model = EvaluationLabel
        fields = ["labeller", "value", "remembered_memory_id", "labelled_at"]


class SampleItemSerializer(ApiModelSerializer):
    """An item: a memory with its quote, or a turn, and all its labels."""

    id = serializers.CharField(source="shown_id")
    kind = EnumField(SampleKind)
    user_id = serializers.CharField(source="end_user.external_id")
    memory_id = serializers.CharField(source="memory.shown_id", default=None, allow_null=True)
    turn_id = serializers.CharField(source="turn.shown_id", default=None, allow_null=True)
    content = serializers.CharField()
    evidence = serializers.CharField(source="memory.evidence", default="")
    memory_type = serializers.CharField()
    model = serializers.CharField()
    version = serializers.IntegerField(allow_null=True)
    labels = LabelSerializer(many=True)

    class Meta:
        model = EvaluationItem
        fields = [
            *("id", "kind", "position", "user_id", "memory_id", "turn_id", "content", "evidence", "memory_type"),
            *("model", "version", "labels"),
        ]


class EvaluationViewSet(ApiViewSet):
    """Samples, their labels, and what the labels tell of the project."""

    scopes = dict.fromkeys(("GET", "HEAD", "POST"), Scope.ADMIN)

    @operation(
        "get_evaluation",
        summary="Get precision, recall and their companions",
        query=EvaluationQuery,
        answers={200: EvaluationSerializer},
    )
    def retrieve(self, request: Request) -> Response:
        """Return what the labels of the last weeks tell about the quality of what is stored."""
        overview = read_figures(project_id=self.caller.project_id, weeks=self.query["weeks"])
        return self.answer(EvaluationSerializer, overview)

    @operation("list_samples", summary="List samples", query=SamplesQuery, answers={200: SampleSerializer(many=True)})
    def samples(self, request: Request) -> Response:
        """List the samples, newest first. Those of a week are drawn by themselves when it has ended."""
        rows = list_samples(project_id=self.caller.project_id)
        if self.query["kinds"]:
            rows = rows.filter(kind__in=self.query["kinds"])
        return self.answer_page(SampleSerializer, rows)

    @operation(
        "draw_samples",
        summary="Draw samples now",
        body=NewSamplesSerializer,
        answers={201: DrawnSamplesSerializer},
        example={},
        is_repeatable=True,
    )
    def draw(self, request: Request) -> Response:
        """Draw up to 100 active memories that were added in a period, and 50 turns of users with nothing stored.

        A memory or turn that is in a sample already is not drawn again.
        """
        project_id = self.caller.project_id
        drawn = {sample.pk for sample in draw_samples(project_id=project_id, **self.valid(NewSamplesSerializer))}
        rows = list_samples(project_id=project_id).filter(id__in=drawn).order_by("id")
        return self.answer(DrawnSamplesSerializer, {"results": rows}, status=201)

    @operation(
        "list_sample_items",
        summary="List the items of a sample",
        query=PageQuery,
        answers={200: SampleItemSerializer(many=True)},
        problems=[Code.NOT_FOUND],
    )
    def items(self, request: Request, sample_id: str) -> Response:
        """List the memories or turns of a sample in the order of the draw, with their labels."""
        rows = items_of(project_id=self.caller.project_id, sample_id=read_id(Prefix.EVALUATION_SAMPLE, sample_id))
        return self.answer_page(SampleItemSerializer, rows, ordering="position")

    @operation(
        "label_item",
        summary="Label an item",
        body=NewLabelSerializer,
        answers={201: LabelSerializer},
        problems=[Code.NOT_FOUND, Code.CONFLICT],
        example={"value": "good"},
        is_repeatable=True,
    )
    def label(self, request: Request, item_id: str) -> Response:
        """Store what the caller says about an item; a second label of the same key replaces its first."""
        wanted = read_id(Prefix.EVALUATION_ITEM, item_id)
        label = label_item(project_id=self.caller.project_id, item_id=wanted, **self.valid(NewLabelSerializer))
        return self.answer(LabelSerializer, label, status=201)

    @operation("export_labels", summary="Export all labels", answers={(200, "application/jsonl"): OpenApiTypes.STR})
    def labels(self, request: Request) -> StreamingHttpResponse:
        """Return one JSON object per label and line: the item with its sentence, who labelled it, and how.

        The last line is `{"kind": "end"}`: without it, the answer was broken off and is not complete.
        """
        lines = export_labels(project_id=self.caller.project_id)
        return StreamingHttpResponse(lines, content_type="application/jsonl")
