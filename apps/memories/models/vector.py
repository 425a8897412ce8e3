"""The vectors of memories by embedder."""

import json
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from pgvector.django import HalfVectorField

from apps.pipeline.core.identifiers import new_id


class HalfVectorsField(ArrayField):
    """An array of half-precision vectors; the driver returns such arrays as text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"base_field": HalfVectorField(), **options})

    def _from_db_value(self, value: str | None, *_: object) -> list[list[float]] | None:
        """Parse '{"[1,2]","[3,4]"}'; ArrayField calls this for elements with their own conversion."""
        return None if value is None else json.loads(f"[{value[1:-1]}]".replace('"', ""))


class MemoryVector(models.Model):
    """The unit vectors of one memory: of its content, and of the questions that it answers.

    One row has all vectors, because a search reads all of them, and rows are scattered on disk.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
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
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("memory",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "memory", "embedder"), name="vector_once_per_embedder"),
        ]
        indexes = [models.Index(fields=("memory",), name="vector_by_memory")]

    def __str__(self) -> str:
        return f"{self.memory_id} by {self.embedder}"
