"""Memories, the turns that state them, their links, comments and vectors."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q, Value
from django.utils import timezone
from pgvector.django import HalfVectorField

from apps.common.rows import Row, ShownRow
from apps.memories.querysets import MemoryLinkQuerySet, MemoryOriginQuerySet, MemoryQuerySet
from apps.memories.write_conflicts import LIVE_ONCE
from apps.pipeline.core.enums import (
    BINDING_TAGS,
    LIVE_STATUSES,
    Grounding,
    LinkKind,
    LinkStatus,
    MemoryType,
    Polarity,
    Precision,
    Role,
    SourceConfidence,
    SpeechAct,
    Status,
    choices_of,
    values_of,
)
from apps.pipeline.core.identifiers import Prefix
from apps.pipeline.core.statement import NOTE_EXTRACTOR

_LIVE = Q(status__in=values_of(LIVE_STATUSES))
_LIVE_NOTE = Q(status__in=values_of(LIVE_STATUSES), extractor=NOTE_EXTRACTOR)


def _terms(function: str, *columns: str, help_text: str) -> models.GeneratedField:
    """Return a column that the database computes, so that no writer forgets it: see migrations/terms.sql."""
    return models.GeneratedField(
        expression=Func(*map(F, columns), function=function),
        output_field=models.BinaryField(),
        db_persist=True,
        help_text=help_text,
    )


def precision_choices() -> list[tuple[str, str]]:
    """Return the choices of an event's precision; migrations refer to this function, so a new value needs none."""
    return choices_of(Precision)


# The most days that an event may last from its first day on, by the precision of its time.
_LONGEST = {
    Precision.INSTANT: 1,
    Precision.DAY: 1,
    Precision.WEEK: 7,
    Precision.MONTH: 31,
    Precision.QUARTER: 92,
    Precision.YEAR: 366,
}


class Memory(ShownRow):
    """A durable, typed, scored, self-contained statement about an end user's world."""

    prefix = Prefix.MEMORY
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="memories", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    version = models.PositiveIntegerField(default=1)
    status = models.CharField(max_length=16, choices=choices_of(Status), default=Status.ACTIVE.value)

    type = models.CharField(max_length=16, choices=choices_of(MemoryType))
    subject = models.ForeignKey(
        "memories.Entity", on_delete=models.PROTECT, null=True, blank=True, related_name="facts", db_index=False
    )
    predicate = models.CharField(max_length=64, blank=True)
    object = models.JSONField(default=dict, blank=True, help_text='{"literal"} | {"entity"} | {"list"}')
    object_text = models.TextField(blank=True)
    content = models.TextField()
    canonical_hash = models.CharField(max_length=32)
    polarity = models.CharField(max_length=16, choices=choices_of(Polarity), default=Polarity.POSITIVE.value)
    stateful = models.BooleanField(default=False, help_text="the predicate holds one true value at a time")
    topic = models.CharField(max_length=64, blank=True)
    tags = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    # Who told it first; the others are kept apart, because metadata of two callers must not mix.
    agent_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    app_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    run_id = models.CharField(max_length=255, blank=True, default="", db_default="")
    metadata = models.JSONField(default=dict, blank=True)
    further_sources = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        blank=True,
        help_text="[{agent_id, app_id, run_id, metadata}]",
    )
    private_to = models.CharField(
        max_length=255, blank=True, default="", db_default="", help_text="the agent that alone is told of it"
    )
    language = models.CharField(max_length=8, default="", blank=True, help_text="as declared; blank: as it sounds")

    # When it was true (valid), when it was said, when it happened; versions record when the system knew it.
    event_at = models.DateTimeField(null=True, blank=True)
    event_precision = models.CharField(max_length=8, choices=precision_choices, blank=True)
    said_at = models.DateTimeField(default=timezone.now)
    valid_from = models.DateTimeField(default=timezone.now)
    valid_until = models.DateTimeField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="superseded", db_index=False
    )
    expires_at = models.DateTimeField(null=True, blank=True)

    # The confidence, and the parts of its sum.
    confidence = models.FloatField()
    confidence_parts = models.JSONField(default=dict, blank=True)
    source_confidence = models.CharField(
        max_length=16, choices=choices_of(SourceConfidence), default=SourceConfidence.DIRECT.value
    )
    grounding = models.CharField(max_length=16, choices=choices_of(Grounding), default=Grounding.SUPPORTED.value)
    speech_act = models.CharField(max_length=16, choices=choices_of(SpeechAct), default=SpeechAct.ASSERTED.value)
    reliability = models.FloatField(default=0.8, help_text="of the extractor")
    adjustment = models.FloatField(default=0.0)
    recurrence = models.PositiveIntegerField(default=1, help_text="distinct sessions and days that said it")
    importance = models.FloatField(default=0.5)
    review_reasons = ArrayField(models.CharField(max_length=32), default=list, blank=True)

    # Where it comes from; a memory stored directly has no trace.
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, null=True, blank=True, related_name="memories", db_index=False
    )
    candidate_index = models.PositiveSmallIntegerField(null=True, blank=True)
    session = models.ForeignKey(
        "traces.Session", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    api_key_id = models.UUIDField(null=True, blank=True)
    role = models.CharField(max_length=16, choices=choices_of(Role), default=Role.USER.value)
    extractor = models.CharField(max_length=120, blank=True)
    evidence = models.TextField(blank=True)
    # The words around the quote: searched with a lower weight than the content, and never shown as content.
    context = models.TextField(blank=True)
    tongue = models.PositiveSmallIntegerField(
        default=1, editable=False, help_text="the language that its words are stemmed as"
    )
    source_tongue = models.PositiveSmallIntegerField(
        default=1, editable=False, help_text="the language that the words of quote and context are stemmed as"
    )
    terms = _terms(
        "content_terms",
        "tongue",
        "content",
        "predicate",
        "source_tongue",
        "evidence",
        help_text="hashes of the stems of content and predicate, and of the quote where it is in another language",
    )
    context_terms = _terms("memory_terms", "source_tongue", "context", help_text="hashes of the context's stems")
    answer_types = models.GeneratedField(
        expression=Func(F("tongue"), F("content"), F("event_at"), function="answer_types"),
        output_field=models.PositiveSmallIntegerField(),
        db_persist=True,
        help_text="which questions it can answer: 1 when, 2 where, 4 how many",
    )
    wording = models.GeneratedField(
        expression=Func(F("content"), function="wording_of"),
        output_field=models.BigIntegerField(),
        db_persist=True,
        help_text="the same for contents with the same words",
    )

    first_accessed = models.DateTimeField(null=True, blank=True)
    last_accessed = models.DateTimeField(null=True, blank=True)
    access_count = models.PositiveIntegerField(default=0)
    decay_score = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("end_user", "trace", "candidate_index"),
                condition=Q(trace__isnull=False),
                name="memory_once_per_candidate",
            ),
            models.UniqueConstraint(
                fields=("end_user", "private_to", "canonical_hash"), condition=_LIVE, name=LIVE_ONCE
            ),
            models.CheckConstraint(condition=Q(status__in=values_of(Status)), name="memory_status_known"),
            models.CheckConstraint(condition=Q(type__in=values_of(MemoryType)), name="memory_type_known"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="memory_confidence_in_range"
            ),
            models.CheckConstraint(
                condition=Q(importance__gte=0, importance__lte=1), name="memory_importance_in_range"
            ),
            models.CheckConstraint(
                condition=~Q(status=Status.SUPERSEDED.value) | Q(valid_until__isnull=False),
                name="memory_superseded_has_end",
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | ~Q(superseded_by=F("id")), name="memory_not_its_own_successor"
            ),
        ]
        indexes = [
            models.Index(fields=("end_user", "status", "-created_at"), name="memory_of_user"),
            models.Index(fields=("end_user", "subject", "predicate"), condition=_LIVE, name="memory_live_by_slot"),
            models.Index(fields=("project", "status", "-created_at"), name="memory_of_project"),
            models.Index(fields=("project", "created_at", "id"), name="memory_by_creation"),
            models.Index(
                fields=("project", "first_accessed"),
                condition=Q(first_accessed__isnull=False),
                name="memory_by_first_access",
            ),
            models.Index(
                fields=("project", "wording"),
                condition=Q(status=Status.PENDING_REVIEW.value),
                name="memory_pending_by_wording",
            ),
            models.Index(fields=("project", "created_at"), condition=_LIVE_NOTE, name="memory_live_note"),
            models.Index(fields=("subject",), condition=Q(subject__isnull=False), name="memory_by_subject"),
            models.Index(
                fields=("superseded_by",), condition=Q(superseded_by__isnull=False), name="memory_by_successor"
            ),
            models.Index(fields=("trace",), condition=Q(trace__isnull=False), name="memory_by_trace"),
            models.Index(fields=("session",), condition=Q(session__isnull=False), name="memory_by_session"),
        ]

    def __str__(self) -> str:
        return self.content

    @property
    def is_rule(self) -> bool:
        """Return True if agents are told to obey it."""
        return not BINDING_TAGS.isdisjoint(self.tags)


def is_past_plan(row: Any, *, now: datetime) -> bool:
    """Return True for a row of memories that was told before its time and is over by now.

    What was told again on another day may have been confirmed since.
    """
    if row.event_at is None or row.said_at >= row.event_at or row.recurrence > 1:
        return False
    ended: datetime = row.event_at + timedelta(days=_LONGEST[Precision(row.event_precision or Precision.DAY)])
    return ended <= now


class MemoryOrigin(Row):
    """A turn that states a memory."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="origins", db_index=False)
    trace = models.ForeignKey("traces.Trace", on_delete=models.PROTECT, related_name="+", db_index=False)
    session = models.ForeignKey("traces.Session", on_delete=models.PROTECT, related_name="+", db_index=False)
    turn = models.ForeignKey("traces.Turn", on_delete=models.PROTECT, related_name="+", db_index=False)
    api_key_id = models.UUIDField(null=True, blank=True)
    role = models.CharField(max_length=16, choices=choices_of(Role))
    evidence = models.TextField()
    said_at = models.DateTimeField()
    withdrawn = models.BooleanField(
        default=False, db_default=False, help_text="a rollback has taken it back; it counts no more"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MemoryOriginQuerySet.as_manager()

    class Meta:
        ordering = ("said_at",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "memory", "turn"), name="origin_once_per_turn"),
        ]
        indexes = [
            models.Index(fields=("memory",), name="origin_by_memory"),
            models.Index(fields=("trace",), name="origin_by_trace"),
            models.Index(fields=("session",), name="origin_by_session"),
            models.Index(fields=("turn",), name="origin_by_turn"),
        ]


class MemoryLink(Row):
    """Two memories that a person has to review together."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    from_memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_out", db_index=False)
    to_memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_in", db_index=False)
    kind = models.CharField(max_length=24, choices=choices_of(LinkKind))
    status = models.CharField(max_length=16, choices=choices_of(LinkStatus), default=LinkStatus.OPEN.value)
    resolution = models.CharField(max_length=32, blank=True)
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    settled_at = models.DateTimeField(null=True, blank=True)

    objects = MemoryLinkQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "from_memory", "to_memory", "kind"), name="link_once"),
            models.CheckConstraint(condition=~Q(from_memory=F("to_memory")), name="link_of_two_memories"),
            models.CheckConstraint(condition=Q(kind__in=values_of(LinkKind)), name="link_kind_known"),
        ]
        indexes = [
            models.Index(fields=("end_user", "to_memory"), name="link_by_target"),
            models.Index(fields=("from_memory",), name="link_by_from"),
            models.Index(fields=("to_memory",), name="link_by_to"),
            models.Index(fields=("trace",), condition=Q(trace__isnull=False), name="link_by_trace"),
            models.Index(fields=("project", "status", "-created_at"), name="link_of_project"),
        ]


class MemoryComment(Row):
    """What a member writes about a memory to the other members; no agent gets it."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.CharField(max_length=160, help_text="person")
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=("memory",), name="comment_by_memory")]


class HalfVectorsField(ArrayField):
    """An array of half-precision vectors; the driver returns such arrays as text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"base_field": HalfVectorField(), **options})

    def _from_db_value(self, value: str | None, *_: object) -> list[list[float]] | None:
        """Parse '{"[1,2]","[3,4]"}'; ArrayField calls this for elements with their own conversion."""
        return None if value is None else json.loads(f"[{value[1:-1]}]".replace('"', ""))


class MemoryVector(Row):
    """The unit vectors of one memory: of its content, and of the questions that it answers.

    One row has all vectors, because a search reads all of them, and rows are scattered on disk.
    """

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="vectors", db_index=False)
    embedder = models.CharField(max_length=120, help_text="a vector of another embedder is never compared")
    dimension = models.PositiveSmallIntegerField()
    embedding = HalfVectorField()  # of the content
    questions = ArrayField(models.TextField(), default=list, blank=True)
    questions_by = models.CharField(
        max_length=120, default="", blank=True, help_text="the model that was asked for them; blank: templates"
    )
    question_embeddings = HalfVectorsField(default=list, blank=True)
    question_terms = _terms(
        "question_terms", "questions", "questions_by", help_text="hashes of the stems of a model's questions"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("memory",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "memory", "embedder"), name="vector_once_per_embedder"),
        ]
        indexes = [models.Index(fields=("memory",), name="vector_by_memory")]
