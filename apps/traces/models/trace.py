"""Traces: the runs of the write pipeline with their spans, model calls, plan and outcome; and test calls of models."""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q, Value
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.draft import Origin
from apps.pipeline.core.enums import SpanResult, Stage, TraceStatus, WorkKind, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.model_calls import AnswerKind


class Trace(ShownRow):
    """One run of the write pipeline over one request."""

    prefix = Prefix.TRACE
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="traces", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey("traces.Session", on_delete=models.PROTECT, related_name="traces", db_index=False)
    configuration = models.ForeignKey(
        "traces.ConfigurationVersion", on_delete=models.PROTECT, related_name="+", db_index=False
    )
    api_key_id = models.UUIDField(null=True, blank=True)
    status = models.CharField(max_length=24, choices=choices_of(TraceStatus), default=TraceStatus.QUEUED.value)
    topic = models.CharField(max_length=64, blank=True)
    agent_scope = models.JSONField(
        default=dict, db_default=Value({}, models.JSONField()), blank=True, help_text="{agent_id, app_id, run_id}"
    )
    metadata = models.JSONField(default=dict, blank=True)
    counts = models.JSONField(default=dict, blank=True)
    outcomes = models.JSONField(default=list, blank=True)
    plan = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
        help_text="the operations that were applied",
    )
    error = models.TextField(blank=True, db_default="")
    traceparent = models.CharField(
        max_length=55, blank=True, default="", db_default="", help_text="the distributed trace of its request (W3C)"
    )
    rollback_id = models.UUIDField(null=True, blank=True, help_text="the rollback that took back what it wrote")
    reads_again = models.BooleanField(
        default=False, db_default=False, editable=False, help_text="it reads turns of earlier traces again, by a model"
    )
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.CheckConstraint(condition=Q(status__in=values_of(TraceStatus)), name="trace_status_known")
        ]
        indexes = [
            models.Index(fields=("end_user", "-created_at"), name="trace_of_user_by_time"),
            models.Index(fields=("project", "-created_at"), name="trace_of_project_by_time"),
            models.Index(fields=("session",), name="trace_by_session"),
            models.Index(
                fields=("project", "id"),
                condition=Q(status=TraceStatus.EXTRACTION_FAILED.value),
                name="trace_extraction_failed",
            ),
            models.Index(
                fields=("project", "created_at"), condition=Q(reads_again=True), name="trace_that_reads_again"
            ),
        ]

    @property
    def distributed_trace_id(self) -> str:
        """Return the distributed trace that its request belongs to, empty if none."""
        return self.traceparent[3:35]

    def origin(self) -> Origin:
        """Return where its request comes from, as the pipeline's value."""
        return Origin(
            project_id=self.project_id,
            end_user_id=self.end_user_id,
            session_id=self.session_id,
            api_key_id=self.api_key_id,
            agent_scope=AgentScope(**self.agent_scope),
        )

    def work_kind(self, *, has_turns: bool) -> WorkKind:
        """Return the kind of work that runs it; a trace without turns of its own reads those of its session."""
        if has_turns:
            return WorkKind.RUN_PIPELINE
        return WorkKind.READ_AGAIN if self.reads_again else WorkKind.EXTRACT_SESSION


class Span(Row):
    """One stage of a trace, with its result and latency."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="spans", db_index=False)
    position = models.SmallIntegerField()
    stage = models.CharField(max_length=16, choices=choices_of(Stage))
    result = models.CharField(max_length=16, choices=choices_of(SpanResult))
    reason = models.CharField(max_length=96, blank=True)
    latency_us = models.IntegerField()
    details = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("trace", "position")
        constraints = [
            models.UniqueConstraint(fields=("end_user", "trace", "position"), name="span_position_once"),
            models.CheckConstraint(
                condition=Q(stage__in=values_of(Stage), result__in=values_of(SpanResult)), name="span_known"
            ),
        ]
        # Spans are append-only and ordered by time, so a small BRIN index finds those of an hour.
        indexes = [
            BrinIndex(fields=("created_at",), pages_per_range=16, autosummarize=True, name="span_by_time"),
            models.Index(fields=("trace",), name="span_by_trace"),
        ]

    def __str__(self) -> str:
        return f"{self.stage}: {self.result}"


def answer_kind_choices() -> list[tuple[str, str]]:
    """Return the choices of the kind of an answer; migrations refer to this function, so a new value needs none."""
    return choices_of(AnswerKind)


class ModelCall(Row):
    """One call of a model, with its tokens, latency and cost."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    trace = models.ForeignKey(Trace, on_delete=models.PROTECT, related_name="model_calls", db_index=False)
    purpose = models.CharField(max_length=32)
    request_hash = models.CharField(max_length=64)
    model = models.CharField(max_length=120)
    prompt_version = models.CharField(max_length=32)
    answer = models.TextField(blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    cache_read_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    latency_us = models.PositiveBigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=8, default=0)
    error = models.TextField(blank=True)
    answer_kind = models.CharField(
        max_length=16,
        blank=True,
        choices=answer_kind_choices,
        help_text="empty where the call failed or a judge answered",
    )
    invalid_objects = models.PositiveSmallIntegerField(
        default=0, help_text="objects in the answer that are not valid memories"
    )
    prompt_cut = models.BooleanField(
        db_default=False, default=False, help_text="the server has read less than it was sent"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("created_at", "id")  # calls of one trace are stored at the same moment
        indexes = [
            models.Index(fields=("end_user", "trace"), name="model_call_of_trace"),
            models.Index(fields=("trace",), name="model_call_by_trace"),
            BrinIndex(fields=("created_at",), pages_per_range=16, autosummarize=True, name="model_call_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model}"


class ModelTestCall(Row):
    """One test call of a model; it belongs to no end user and counts among the calls of its project."""

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=120)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    latency_us = models.PositiveBigIntegerField(default=0)
    cost_usd = models.DecimalField(max_digits=12, decimal_places=8, default=0)
    error = models.TextField(blank=True, help_text="empty where the model has answered")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-id",)
        indexes = [models.Index(fields=("project", "created_at"), name="model_test_of_project")]

    def __str__(self) -> str:
        return f"test of {self.model}"
