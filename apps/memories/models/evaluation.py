"""Samples of what was stored and of what was not, and what people say about them."""

from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.pipeline.core.enums import LabelValue, SampleKind, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix


def label_choices() -> list[tuple[str, str]]:
    """Return the choices of a label; migrations refer to this function, so a new value needs none."""
    return choices_of(LabelValue)


class EvaluationSample(ShownRow):
    """Memories or turns of a period, drawn at random; `counts` tells the turns of the period by configuration version.

    `counts` is a list of {version, turns, passed, stored}: turns of users, those of them that passed the pre-filter,
    and those from which a memory was stored. It is empty for a sample of memories.
    """

    prefix = Prefix.EVALUATION_SAMPLE
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=16, choices=choices_of(SampleKind))
    week = models.DateField(help_text="the Monday of the week in which the period ends")
    since = models.DateTimeField()
    until = models.DateTimeField(help_text="excluded")
    seed = models.BigIntegerField(help_text="the same seed draws the same rows")
    population = models.PositiveIntegerField(help_text="memories or turns of the period that could have been drawn")
    counts = models.JSONField(default=list, blank=True)
    actor = models.CharField(max_length=160, help_text="key, person, command or system that drew it")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("-id",)
        constraints = [
            models.UniqueConstraint(fields=("project", "kind", "since", "until"), name="evaluation_sample_once"),
            models.CheckConstraint(condition=Q(kind__in=values_of(SampleKind)), name="evaluation_sample_kind_known"),
        ]
        indexes = [models.Index(fields=("project", "week"), name="evaluation_sample_by_week")]


class EvaluationItem(ShownRow):
    """One memory or turn of a sample, with its type, extractor and configuration version at the time of the draw."""

    prefix = Prefix.EVALUATION_ITEM
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    sample = models.ForeignKey(EvaluationSample, on_delete=models.CASCADE, related_name="items", db_index=False)
    position = models.PositiveSmallIntegerField(help_text="in the random order of the draw")
    memory = models.ForeignKey(
        "memories.Memory", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    turn = models.ForeignKey(
        "traces.Turn", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    memory_type = models.CharField(max_length=16, blank=True)
    model = models.CharField(max_length=120, blank=True, help_text="the model, patterns, or direct; of turns: empty")
    version = models.PositiveIntegerField(null=True, blank=True, help_text="number of the configuration version")

    class Meta:
        ordering = ("sample", "position")
        constraints = [
            models.UniqueConstraint(fields=("end_user", "memory"), name="evaluation_memory_once"),
            models.UniqueConstraint(fields=("end_user", "turn"), name="evaluation_turn_once"),
            models.CheckConstraint(
                condition=Q(memory__isnull=True) ^ Q(turn__isnull=True), name="evaluation_item_of_one_thing"
            ),
        ]
        indexes = [
            models.Index(fields=("sample",), name="evaluation_item_by_sample"),
            models.Index(fields=("memory",), condition=Q(memory__isnull=False), name="evaluation_item_by_memory"),
            models.Index(fields=("turn",), condition=Q(turn__isnull=False), name="evaluation_item_by_turn"),
        ]

    @property
    def kind(self) -> SampleKind:
        """Return what it is."""
        return SampleKind.TURN if self.turn_id else SampleKind.MEMORY

    @property
    def content(self) -> str:
        """Return the sentence of the memory, or the text of the turn; empty once a retention period has removed it."""
        if self.memory is not None:
            return self.memory.content
        return self.turn.content if self.turn is not None else ""

    @property
    def object_id(self) -> UUID | None:
        """Return the memory or turn."""
        return self.memory_id or self.turn_id

    @property
    def told(self) -> list[tuple[str, LabelValue]]:
        """Return the labellers with what they say, without those who could not tell."""
        said = [(label.labeller, LabelValue(label.value)) for label in self.labels.all()]
        return [(labeller, value) for labeller, value in said if value is not LabelValue.SKIPPED]

    @property
    def is_good(self) -> bool | None:
        """Return whether most labellers say that the product did right; None if nobody could tell.

        A memory is good if it is true, current and useful, a turn with nothing stored if it contains nothing. A tie
        counts against the product.
        """
        told = [value for _, value in self.told]
        right = sum(value in (LabelValue.GOOD, LabelValue.NOTHING) for value in told)
        return 2 * right > len(told) if told else None


class EvaluationLabel(Row):
    """What one labeller says about an item."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    item = models.ForeignKey(EvaluationItem, on_delete=models.CASCADE, related_name="labels", db_index=False)
    labeller = models.CharField(max_length=160, help_text="person or key")
    value = models.CharField(max_length=16, choices=label_choices)
    remembered_id = models.UUIDField(null=True, blank=True, help_text="the memory that the labeller stored of the turn")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "item", "labeller"), name="evaluation_label_once"),
        ]
        indexes = [models.Index(fields=("item",), name="evaluation_label_by_item")]
