"""Links between memories."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from apps.memories.models.memory import Memory
from apps.memories.querysets import MemoryLinkQuerySet
from apps.pipeline.core.enums import LinkKind, LinkStatus, choices_of, values_of
from apps.pipeline.core.identifiers import new_id


class MemoryLink(models.Model):
    """Two memories that a person has to review together."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    from_memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_out", db_index=False)
    to_memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="links_in", db_index=False)
    kind = models.CharField(max_length=24, choices=choices_of(LinkKind))
    status = models.CharField(max_length=16, choices=choices_of(LinkStatus), default=LinkStatus.OPEN.value)
    resolution = models.CharField(max_length=32, blank=True)
    trace = models.ForeignKey(
        "traces.Trace",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
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

    def __str__(self) -> str:
        return f"{self.from_memory_id} {self.kind} {self.to_memory_id}"
