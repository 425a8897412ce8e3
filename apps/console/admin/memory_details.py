"""Admin of the tables around memories: versions, origins, links, vectors, revisions."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.base import ReadOnlyAdmin
from apps.console.admin.cells import chip_column, json_column, truncated_column
from apps.console.admin.memory_inlines import quote_column
from apps.memories.models import MemoryLink, MemoryOrigin, MemoryVector, MemoryVersion
from apps.pipeline.core.identifiers import Prefix


@admin.register(MemoryVersion)
class MemoryVersionAdmin(ReadOnlyAdmin):
    """Past versions of memories."""

    list_display = ("memory", "version", "operation", "actor", "known_from", "known_until")
    list_filter = ("operation",)
    list_select_related = ("memory",)
    search_fields = ("actor", "end_user__external_id")
    date_hierarchy = "known_until"
    fields = ("memory", "version", "operation", "actor", json_column("values"), "trace", "known_from", "known_until")
    readonly_fields = fields


@admin.register(MemoryOrigin)
class MemoryOriginAdmin(ReadOnlyAdmin):
    """The turns that support each memory."""

    list_display = (truncated_column("evidence"), "memory", "role", "end_user", "session", "said_at")
    list_filter = ("role",)
    list_select_related = ("memory", "end_user", "session")
    search_fields = ("evidence", "end_user__external_id")
    date_hierarchy = "said_at"
    fields = (quote_column, "memory", "role", "end_user", "session", "trace", "said_at", "created_at")
    readonly_fields = fields


@admin.register(MemoryLink)
class MemoryLinkAdmin(ReadOnlyAdmin):
    """Pairs of memories that contradict or may duplicate each other."""

    prefix = Prefix.LINK
    list_display = ("from_memory", "kind", "to_memory", chip_column("status"), "end_user", "project", "created_at")
    list_filter = ("kind", "status", "project")
    list_select_related = ("from_memory", "to_memory", "end_user", "project")
    search_fields = ("from_memory__content", "to_memory__content", "end_user__external_id")
    date_hierarchy = "created_at"


@admin.register(MemoryVector)
class MemoryVectorAdmin(ReadOnlyAdmin):
    """Embeddings of memories."""

    list_display = ("memory", "embedder", "dimension", "end_user", "created_at")
    list_filter = ("embedder",)
    list_select_related = ("memory", "end_user")
    search_fields = ("memory__content", "questions", "end_user__external_id")
    fields = ("memory", "questions", "embedder", "dimension", "end_user", "created_at")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryVector]:
        """Don't load the embeddings."""
        vectors: QuerySet[MemoryVector] = super().get_queryset(request)
        return vectors.defer("embedding", "question_embeddings")
