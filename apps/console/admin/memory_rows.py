"""What a memory's page shows beneath it: sources, history, links, questions."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from apps.console.admin.cells import Cell, as_json, chipped, marked
from apps.console.admin.pages import ReadOnlyRows
from apps.memories.models import MemoryLink, MemoryOrigin, MemoryVector, MemoryVersion


@admin.display(description="quote in its turn")
def _quote_in_turn(origin: MemoryOrigin) -> SafeString:
    return marked(origin.turn.content, origin.evidence)


in_its_turn: Cell = _quote_in_turn


class OriginRows(ReadOnlyRows):
    """The turns that say a memory."""

    model = MemoryOrigin
    fields = (in_its_turn, "role", "session", "trace", "said_at")
    ordering = ("said_at",)
    joins = ("turn", "session", "trace")


class VersionRows(ReadOnlyRows):
    """What a memory was before."""

    model = MemoryVersion
    fields = ("version", "operation", "actor", as_json("values"), "known_from", "known_until")
    ordering = ("-version",)


class LinkRows(ReadOnlyRows):
    """Memories that can't both be right, or may be the same."""

    model = MemoryLink
    fk_name = "from_memory"
    verbose_name_plural = "links to other memories"
    fields = ("kind", "to_memory", chipped("status"), "resolution", "created_at")
    joins = ("to_memory",)


class BackLinkRows(LinkRows):
    """The same, seen from the other memory."""

    fk_name = "to_memory"
    verbose_name_plural = "links from other memories"
    fields = ("kind", "from_memory", chipped("status"), "resolution", "created_at")
    joins = ("from_memory",)


class VectorRows(ReadOnlyRows):
    """The questions under which a memory is found by meaning, beside its content."""

    model = MemoryVector
    fields = ("embedder", "dimension", "questions", "created_at")
    ordering = ("embedder",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[MemoryVector]:
        """Leave out the numbers."""
        vectors: QuerySet[MemoryVector] = super().get_queryset(request)
        return vectors.defer("embedding", "question_embeddings")
