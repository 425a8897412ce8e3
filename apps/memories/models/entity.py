"""People, places and things that memories are about."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.memories.querysets import EntityQuerySet
from apps.memories.write_conflicts import ONE_USER
from apps.pipeline.core.enums import EntityType, choices_of, values_of
from apps.pipeline.core.identifiers import Prefix, new_id, show


class Entity(models.Model):
    """A person, organisation, place and so on, with a stable identifier."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="entities", db_index=False)
    project = models.ForeignKey("tenants.Project", on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=255)
    type = models.CharField(max_length=16, choices=choices_of(EntityType), default=EntityType.OTHER.value)
    is_user = models.BooleanField(default=False, help_text="the end user")
    mention_count = models.PositiveIntegerField(default=1)
    last_mentioned_at = models.DateTimeField(default=timezone.now)
    merged_into = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="merged")
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
    def shown_id(self) -> str:
        """Return the identifier as people see it."""
        return show(Prefix.ENTITY, self.id)


class EntityAlias(models.Model):
    """A name by which an entity has been called."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    end_user = models.ForeignKey("tenants.EndUser", on_delete=models.PROTECT, related_name="+", db_index=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="aliases", db_index=False)
    alias = models.CharField(max_length=255)
    folded = models.CharField(max_length=255, help_text="the alias in its canonical form")
    source = models.CharField(max_length=32, default="turn")
    count = models.PositiveIntegerField(default=1)
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
