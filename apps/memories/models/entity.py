"""People, places and things that memories are about."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.common.rows import Row, ShownRow
from apps.memories.querysets import EntityQuerySet
from apps.memories.write_conflicts import ONE_USER
from apps.pipeline.core.enums import EntityChangeKind, EntityType, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix


class Entity(ShownRow):
    """A person, organisation, place and so on, with a stable identifier."""

    prefix = Prefix.ENTITY
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="entities", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=255)
    type = models.CharField(max_length=16, choices=choices_of(EntityType), default=EntityType.OTHER.value)
    is_user = models.BooleanField(default=False, help_text="the end user")
    mention_count = models.PositiveIntegerField(default=1)
    last_mentioned_at = models.DateTimeField(default=timezone.now)
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="merged")
    added_by = models.UUIDField(
        null=True, blank=True, editable=False, help_text="the trace that brought it, if one did"
    )
    withdrawn = models.BooleanField(
        default=False, db_default=False, help_text="a rollback has taken it back; nothing refers to it any more"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = EntityQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "entities"
        ordering = ("-last_mentioned_at",)
        constraints = [
            models.UniqueConstraint(fields=("end_user",), condition=Q(is_user=True), name=ONE_USER),
            models.CheckConstraint(condition=Q(type__in=values_of(EntityType)), name="entity_type_known"),
        ]
        indexes = [models.Index(fields=("end_user", "-last_mentioned_at"), name="entity_of_user_by_mention")]

    def __str__(self) -> str:
        return self.name

    @property
    def standing_aliases(self) -> list["EntityAlias"]:
        """Return the names that no rollback has withdrawn; prefetch `aliases` for lists."""
        return [alias for alias in self.aliases.all() if not alias.withdrawn]


class EntityAlias(Row):
    """A name by which an entity has been called."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="aliases", db_index=False)
    alias = models.CharField(max_length=255)
    folded = models.CharField(max_length=255, help_text="the alias in its canonical form")
    source = models.CharField(max_length=32, default="turn")
    count = models.PositiveIntegerField(default=1)
    withdrawn = models.BooleanField(
        default=False, db_default=False, help_text="a rollback has taken it back; no other trace says it"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "entity aliases"
        ordering = ("alias",)
        constraints = [
            models.UniqueConstraint(fields=("end_user", "entity", "folded"), name="alias_once_per_entity"),
        ]
        indexes = [
            models.Index(fields=("end_user", "folded"), name="alias_of_user"),
            models.Index(fields=("entity",), name="alias_by_entity"),
        ]

    def __str__(self) -> str:
        return self.alias


class EntityChange(Row):
    """What a trace did to the names of an entity, from which a rollback takes it back."""

    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="changes", db_index=False)
    trace_id = models.UUIDField(help_text="the row of the trace may have been deleted since")
    kind = models.CharField(max_length=16, choices=choices_of(EntityChangeKind))
    alias = models.CharField(max_length=255, help_text="the name that was said, taken or given")
    folded = models.CharField(max_length=255, help_text="the alias in its canonical form")
    former = models.CharField(max_length=255, blank=True, help_text="the name before a renaming")
    uses = models.PositiveIntegerField(default=1, help_text="how often a description had been said when it was taken")
    withdrawn = models.BooleanField(default=False, db_default=False, help_text="a rollback has taken it back")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("created_at", "id")
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=values_of(EntityChangeKind)), name="entity_change_kind_known"),
        ]
        indexes = [
            models.Index(fields=("end_user", "trace_id"), name="entity_change_of_trace"),
            models.Index(fields=("entity",), name="entity_change_by_entity"),
        ]
