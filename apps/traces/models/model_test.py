"""Test calls of models, which people make to see whether a model answers."""

from django.db import models
from django.utils import timezone

from apps.pipeline.core.identifiers import new_id


class ModelTestCall(models.Model):
    """One test call of a model; it belongs to no end user and counts among the calls of its project."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
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
