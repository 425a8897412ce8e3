"""All memories of a project: filters and orders of the page Memories."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone

from apps.console.paging import KeysetOrder, identifier_of, midnight, next_midnight, query_param
from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import MemoryType, SourceConfidence, Stakes, Status
from apps.retrieval.query import shown_statuses
from apps.traces.policies import active_policy

ORDERS: Mapping[str, tuple[str, KeysetOrder]] = {
    "newest": ("newest first", KeysetOrder("created_at")),
    "oldest": ("oldest first", KeysetOrder("created_at", is_descending=False)),
    "changed": ("last changed first", KeysetOrder("updated_at")),
    "unsure": ("least confident first", KeysetOrder("confidence", is_descending=False, kind=float)),
    "sure": ("most confident first", KeysetOrder("confidence", kind=float)),
    "important": ("most important first", KeysetOrder("importance", kind=float)),
}


class MemoryWriter(StrEnum):
    """What wrote a memory."""

    PLAIN = "plain"
    MODEL = "model"
    DIRECT = "direct write"


class Visibility(StrEnum):
    """Whether agents are told a memory at normal stakes, and why not."""

    SHOWN = "shown to agents"
    HELD_BACK = "held back"  # it waits for review, or its confidence is too low
    EXPIRED = "expired"
    ENDED = "no longer valid"


_FOLDED = {"writer", "source", "tag", "least", "most", "since", "until"}  # the page folds these filters away


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """What a query string asks for: filters and order of the list. Unknown values are ignored."""

    values: dict[str, Any]  # of the parameters that restrict the list
    by: str = "newest"

    @classmethod
    def of(cls, request: HttpRequest) -> "MemoryFilters":
        """Read the filters from a query string."""
        read = {name: parse(query_param(request, name)) for name, parse in _PARAMETERS.items()}
        by = query_param(request, "by")
        given = {name: value for name, value in read.items() if value not in ("", None)}
        return cls(given, by if by in ORDERS else "newest")

    @property
    def order(self) -> KeysetOrder:
        """Return the order of the list."""
        return ORDERS[self.by][1]

    @property
    def has_more(self) -> bool:
        """Return True if a filter is set that the page folds away."""
        return not _FOLDED.isdisjoint(self.values)


def list_memories(*, project_id: UUID, filters: MemoryFilters) -> MemoryQuerySet:
    """Return the memories of a project that match, with the rows that the list shows, in no order."""
    rows, given = Memory.objects.for_project(project_id).to_show().order_by(), filters.values
    rows = rows.filter(**{lookup: given[name] for name, lookup in _LOOKUPS.items() if name in given})
    if words := given.get("q"):
        rows = rows.of_words(words)
    if tag := given.get("tag"):
        rows = rows.filter(tags__contains=[tag])
    if writer := given.get("writer"):
        rows = rows.filter(_WRITTEN_BY[writer])
    if visibility := given.get("visibility"):
        rows = _visible(rows, visibility, project_id)
    return rows


_BY_TABLE = Q(extractor__startswith="plain:") | Q(extractor__startswith="patterns:")
_WRITTEN_BY: Mapping[MemoryWriter, Q] = {
    MemoryWriter.PLAIN: Q(trace__isnull=False) & _BY_TABLE,
    MemoryWriter.MODEL: Q(trace__isnull=False) & ~_BY_TABLE,
    MemoryWriter.DIRECT: Q(trace__isnull=True),
}


def _visible(rows: MemoryQuerySet, visibility: Visibility, project_id: UUID) -> MemoryQuerySet:
    now, stakes = timezone.now(), Stakes.NORMAL
    if visibility is Visibility.EXPIRED:
        return rows.filter(expires_at__lte=now)
    if visibility is Visibility.ENDED:
        return rows.filter(valid_until__lte=now)
    least = active_policy(project_id=project_id).retrieval.least_confidence[stakes]
    if visibility is Visibility.HELD_BACK:
        return rows.filter(Q(status=Status.PENDING_REVIEW) | Q(status=Status.ACTIVE, confidence__lt=least))
    return rows.filter(status__in=shown_statuses(stakes), confidence__gte=least).true_at(now)


def _one_of(choices: type[StrEnum]) -> Callable[[str], StrEnum | None]:
    return lambda text: choices(text) if text in set(choices) else None


def _share(text: str) -> float | None:
    """Return a number from 0 to 1; None for any other text."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


_PARAMETERS: Mapping[str, Callable[[str], Any]] = {
    "q": str,
    "user": str,  # part of the identifier
    "of": identifier_of,
    "status": _one_of(Status),
    "type": _one_of(MemoryType),
    "writer": _one_of(MemoryWriter),
    "source": _one_of(SourceConfidence),
    "tag": str,
    "visibility": _one_of(Visibility),
    "least": _share,  # confidence
    "most": _share,
    "since": midnight,  # stored
    "until": next_midnight,
}
_LOOKUPS = {
    "user": "end_user__external_id__icontains",
    "of": "end_user_id",
    "status": "status",
    "type": "type",
    "source": "source_confidence",
    "least": "confidence__gte",
    "most": "confidence__lte",
    "since": "created_at__gte",
    "until": "created_at__lt",
}
