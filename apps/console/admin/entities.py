"""Admin of entities and their aliases."""

from django.contrib import admin
from django.utils.safestring import SafeString

from apps.console.admin.base import ReadOnlyAdmin, ReadOnlyInline
from apps.console.admin.cells import changelist_link, identifier_column
from apps.memories.models import Entity, EntityAlias
from apps.pipeline.core.identifiers import Prefix


class EntityAliasInline(ReadOnlyInline):
    """The names of an entity."""

    model = EntityAlias
    fields = ("alias", "folded", "source", "count", "created_at")


@admin.register(Entity)
class EntityAdmin(ReadOnlyAdmin):
    """People, organisations, places and things that memories are about."""

    console_page = "entity"
    prefix = Prefix.ENTITY
    list_display = ("name", "type", "is_user", "mention_count", "last_mentioned_at", "end_user", "project")
    list_filter = ("type", "is_user", "project")
    list_select_related = ("end_user", "project")
    search_fields = ("name", "end_user__external_id")
    inlines = (EntityAliasInline,)
    fields = (
        "name",
        identifier_column(Prefix.ENTITY),
        "type",
        "is_user",
        "end_user",
        "project",
        "mention_count",
        "last_mentioned_at",
        "merged_into",
        "created_at",
        "facts",
    )
    readonly_fields = fields

    @admin.display(description="memories")
    def facts(self, entity: Entity) -> SafeString:
        """Link to the memories about the entity."""
        return changelist_link("memories_memory", "memories about it", end_user=entity.end_user_id, subject=entity.pk)


@admin.register(EntityAlias)
class EntityAliasAdmin(ReadOnlyAdmin):
    """Aliases of entities."""

    list_display = ("alias", "entity", "count", "source", "end_user", "created_at")
    list_filter = ("source",)
    list_select_related = ("entity", "end_user")
    search_fields = ("alias", "folded", "end_user__external_id")
