"""What a memory was before, and who did what: both only ever grow."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone

from apps.pipeline.core.identifiers import new_id


class MemoryVersion(models.Model):
    """The values that a memory had before a change."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="versions", db_index=False)
    version = models.PositiveIntegerField(help_text="the version whose values these are")
    values = models.JSONField(encoder=DjangoJSONEncoder, help_text="the fields that the change replaced")
    operation = models.CharField(max_length=32)
    actor = models.CharField(max_length=160, help_text="trace, key or person that made the change")
    trace = models.ForeignKey(
        "traces.Trace", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    known_from = models.DateTimeField(help_text="when we began to believe these values")
    known_until = models.DateTimeField(default=timezone.now, help_text="when the change replaced them")

    class Meta:
        ordering = ("memory", "version")
        constraints = [
            models.UniqueConstraint(fields=("end_user", "memory", "version"), name="memory_version_once"),
        ]

    def __str__(self) -> str:
        return f"version {self.version}"


class LedgerEntry(models.Model):
    """One thing that was done; the database refuses to change or delete it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.PROTECT, related_name="+", db_index=False)
    actor = models.CharField(max_length=160)
    verb = models.CharField(max_length=32)
    object_kind = models.CharField(max_length=32)
    object_id = models.UUIDField()
    trace_id = models.UUIDField(null=True, blank=True)
    details = models.JSONField(default=dict, blank=True, help_text="identifiers and names of fields, never content")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "ledger entries"
        ordering = ("-id",)
        indexes = [models.Index(fields=("end_user", "object_id"), name="ledger_of_object")]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_kind}"
