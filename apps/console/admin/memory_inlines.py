"""Inlines of the memory page: origins, versions, links, vectors."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.console.admin.base import ReadOnlyInline
from apps.console.admin.cells import Cell, chip_column, highlighted, json_column
from apps.memories.models import MemoryLink, MemoryOrigin, MemoryVector, MemoryVersion


@admin.display(description="quote in context")
def _quote_in_turn(origin: MemoryOrigin) -> SafeString:
    return highlighted(origin.turn.content, origin.evidence)


quote_column: Cell = _quote_in_turn


class MemoryOriginInline(ReadOnlyInline):
    """The turns that support a memory."""

    model = MemoryOrigin
    fields = (quote_column, "role", "session", "trace", "said_at")
    ordering = ("said_at",)
    joins = ("turn", "session", "trace")


class MemoryVersionInline(ReadOnlyInline):
    """The past versions of a memory."""

    model = MemoryVersion
    fields = ("version", "operation", "actor", json_column("values"), "known_from", "known_until")
    ordering = ("-version",)


class MemoryLinkInline(ReadOnlyInline):
    """Links to memories that contradict or may duplicate this one."""

    model = MemoryLink
    fk_name = "from_memory"
    verbose_name_plural = "links to other memories"
    fields = ("kind", "to_memory", chip_column("status"), "resolution", "created_at")
    joins = ("to_memory",)


class IncomingMemoryLinkInline(MemoryLinkInline):
    """Links from other memories."""

    fk_name = "to_memory"
    verbose_name_plural = "links from other memories"
    fields = ("kind", "from_memory", chip_column("status"), "resolution", "created_at")
    joins = ("from_memory",)


class MemoryVectorInline(ReadOnlyInline):
    """The embedded questions that a memory answers."""

    model = MemoryVector
    fields = ("embedder", "dimension", "questions", "created_at")
    ordering = ("embedder",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryVector]:
        """Don't load the embeddings."""
        vectors: QuerySet[MemoryVector] = super().get_queryset(request)
        return vectors.defer("embedding", "question_embeddings")
