"""Requests with an Idempotency-Key, which are executed once however often they are sent."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.pipeline.core.identifiers import new_id


class IdempotentRequest(models.Model):
    """The fingerprint of a request with an Idempotency-Key, and its answer."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    end_user_id = models.UUIDField(null=True, help_text="whom the request names; the answer is erased with the user")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="hash of method, path and body")
    answer_status = models.PositiveSmallIntegerField(null=True, help_text="empty while the request is running")
    answer = models.JSONField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=("project", "key"), name="idempotency_key_once"),
            models.CheckConstraint(
                condition=Q(answer_status__isnull=True) | Q(answer__isnull=False), name="idempotency_answer_complete"
            ),
        ]

        indexes = [
            models.Index(fields=("end_user_id",), condition=Q(end_user_id__isnull=False), name="idempotency_of_user")
        ]

    def __str__(self) -> str:
        return self.key
