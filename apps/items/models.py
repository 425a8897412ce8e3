"""Items: JSON objects that callers store by namespace and key, and get back as they are."""

from collections.abc import Sequence
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.db.models import Q, Value
from django.db.models.functions import Cast, Now
from django.utils import timezone

from apps.common.rows import Row

LABEL_LENGTH = 255
_LABELS: "ArrayField[Any, Any]" = ArrayField(models.CharField())


class ItemQuerySet(models.QuerySet["StoredItem"]):
    """Items by their namespace and expiry."""

    def below(self, prefix: Sequence[str]) -> "ItemQuerySet":
        """Filter the items below a namespace: a range of the index, as no label holds a control character."""
        if not prefix:
            return self
        first, after = [*prefix], [*prefix[:-1], f"{prefix[-1]}\x01"]
        return self.filter(
            namespace__gte=Cast(Value(first, _LABELS), _LABELS), namespace__lt=Cast(Value(after, _LABELS), _LABELS)
        )

    def unexpired(self) -> "ItemQuerySet":
        """Filter the items that have not expired; the schedule deletes the others."""
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=Now()))

    def shown(self) -> "ItemQuerySet":
        """Read what has not expired, as answers show it."""
        return self.unexpired().select_related("end_user").defer("terms", "words")


class StoredItem(Row):
    """A JSON object under a namespace and a key; deleting it leaves nothing.

    Identifiers rise in the order of creation, which is the order of the items of a conversation. Names are compared
    byte by byte (collation C), so that a range of the unique index is a prefix of namespaces.
    """

    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    end_user = models.ForeignKey(
        "tenants.EndUser",
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,
        help_text="whose data it is, with whom it is erased; empty: nobody's",
    )
    session_id = models.CharField(
        max_length=255,
        blank=True,
        default="",
        db_default="",
        help_text="with which session of the end user it is deleted",
    )
    namespace = ArrayField(models.CharField(max_length=LABEL_LENGTH, db_collation="C"))
    key = models.CharField(max_length=LABEL_LENGTH, db_collation="C")
    value = models.JSONField()
    words = models.TextField(blank=True, help_text="by which a query finds it")
    terms = models.GeneratedField(
        expression=SearchVector("words", config="english"), output_field=SearchVectorField(), db_persist=True
    )
    version = models.PositiveIntegerField(default=1)
    ttl_minutes = models.FloatField(null=True, help_text="minutes after the last access until it expires; empty: never")
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=("project", "namespace", "key"), name="item_once")]
        indexes = [
            models.Index(fields=("end_user",), condition=Q(end_user__isnull=False), name="item_of_user"),
            models.Index(fields=("expires_at",), condition=Q(expires_at__isnull=False), name="item_by_expiry"),
        ]

    def __str__(self) -> str:
        return "/".join((*self.namespace, self.key))
