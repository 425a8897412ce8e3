"""Comments of members on memories."""

from django.db import models
from django.utils import timezone

from apps.pipeline.core.identifiers import new_id


class MemoryComment(models.Model):
    """What a member writes about a memory to the other members; no agent gets it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="comments", db_index=False)
    author = models.CharField(max_length=160, help_text="person")
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=("memory",), name="comment_by_memory")]

    def __str__(self) -> str:
        return self.text
