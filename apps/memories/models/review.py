"""What reviewers leave for each other: assignments, comments, and which row each of them has open."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from apps.pipeline.core.identifiers import new_id


class ReviewAssignment(models.Model):
    """A memory that one member is to decide about."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    memory = models.ForeignKey("memories.Memory", on_delete=models.CASCADE, related_name="assignments", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    assigned_by = models.CharField(max_length=160, help_text="person")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("id",)
        constraints = [models.UniqueConstraint(fields=("end_user", "memory"), name="assignment_once_per_memory")]
        indexes = [
            models.Index(fields=("memory",), name="assignment_by_memory"),
            models.Index(fields=("person",), name="assignment_by_person"),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} for {self.person_id}"


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


class ReviewPresence(models.Model):
    """The memory or pair that a member has open, and the last heartbeat of the page; it locks nothing."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    object_id = models.UUIDField(help_text="of the memory or pair")
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("-seen_at",)
        constraints = [models.UniqueConstraint(fields=("project", "person"), name="presence_once_per_person")]
        indexes = [models.Index(fields=("person",), name="presence_by_person")]

    def __str__(self) -> str:
        return f"{self.person_id} at {self.object_id}"
