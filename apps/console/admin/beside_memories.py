"""What belongs to memories, as lists of its own: versions, sources, links, vectors, revisions."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from apps.console.admin.cells import as_json, chipped, shortened
from apps.console.admin.memory_rows import in_its_turn
from apps.console.admin.pages import ReadOnlyPage
from apps.memories.models import MemoryChange, MemoryLink, MemoryOrigin, MemoryRevision, MemoryVector, MemoryVersion
from apps.pipeline.core.identifiers import Prefix


@admin.register(MemoryVersion)
class MemoryVersionPage(ReadOnlyPage):
    """What memories were before they were changed."""

    list_display = ("memory", "version", "operation", "actor", "known_from", "known_until")
    list_filter = ("operation",)
    list_select_related = ("memory",)
    search_fields = ("actor", "end_user__external_id")
    date_hierarchy = "known_until"
    fields = ("memory", "version", "operation", "actor", as_json("values"), "trace", "known_from", "known_until")
    readonly_fields = fields


@admin.register(MemoryOrigin)
class MemoryOriginPage(ReadOnlyPage):
    """Which turn says which memory."""

    list_display = (shortened("evidence"), "memory", "role", "end_user", "session", "said_at")
    list_filter = ("role",)
    list_select_related = ("memory", "end_user", "session")
    search_fields = ("evidence", "end_user__external_id")
    date_hierarchy = "said_at"
    fields = (in_its_turn, "memory", "role", "end_user", "session", "trace", "said_at", "created_at")
    readonly_fields = fields


@admin.register(MemoryLink)
class MemoryLinkPage(ReadOnlyPage):
    """Pairs of memories that a person has to look at."""

    prefix = Prefix.LINK
    list_display = ("from_memory", "kind", "to_memory", chipped("status"), "end_user", "project", "created_at")
    list_filter = ("kind", "status", "project")
    list_select_related = ("from_memory", "to_memory", "end_user", "project")
    search_fields = ("from_memory__content", "to_memory__content", "end_user__external_id")
    date_hierarchy = "created_at"


@admin.register(MemoryVector)
class MemoryVectorPage(ReadOnlyPage):
    """Where memories stand in an embedder's space."""

    list_display = ("memory", "embedder", "dimension", "end_user", "created_at")
    list_filter = ("embedder",)
    list_select_related = ("memory", "end_user")
    search_fields = ("memory__content", "questions", "end_user__external_id")
    fields = ("memory", "questions", "embedder", "dimension", "end_user", "created_at")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryVector]:
        """Leave out the numbers."""
        vectors: QuerySet[MemoryVector] = super().get_queryset(request)
        return vectors.defer("embedding", "question_embeddings")


@admin.register(MemoryRevision)
class MemoryRevisionPage(ReadOnlyPage):
    """The last change of what a search reads of an end user."""

    list_display = ("end_user", "number", "transaction")
    list_select_related = ("end_user",)
    search_fields = ("end_user__external_id",)


@admin.register(MemoryChange)
class MemoryChangePage(ReadOnlyPage):
    """At which revision of an end user a memory last changed."""

    prefix = Prefix.MEMORY
    list_display = ("id", "number", "end_user")
    list_select_related = ("end_user",)
    search_fields = ("end_user__external_id",)
