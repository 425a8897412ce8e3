"""All memories of a project: filters and orders of the page Memories."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
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


@dataclass(frozen=True, slots=True)
class MemoryFilters:
    """Filters of the list; an empty one does not restrict it."""

    words: str = ""
    user: str = ""  # part of the identifier
    user_id: UUID | None = None
    status: str = ""
    type: str = ""
    writer: str = ""
    source: str = ""
    tag: str = ""
    visibility: str = ""
    least: float | None = None  # confidence
    most: float | None = None
    since: datetime | None = None  # stored
    until: datetime | None = None
    by: str = "newest"

    @classmethod
    def of(cls, request: HttpRequest) -> "MemoryFilters":
        """Read the filters from a query string; unknown values are ignored."""
        return cls(
            words=query_param(request, "q"),
            user=query_param(request, "user"),
            user_id=identifier_of(query_param(request, "of")),
            status=_one_of(request, "status", Status),
            type=_one_of(request, "type", MemoryType),
            writer=_one_of(request, "writer", MemoryWriter),
            source=_one_of(request, "source", SourceConfidence),
            tag=query_param(request, "tag"),
            visibility=_one_of(request, "visibility", Visibility),
            least=_share(query_param(request, "least")),
            most=_share(query_param(request, "most")),
            since=midnight(query_param(request, "since")),
            until=next_midnight(query_param(request, "until")),
            by=by if (by := query_param(request, "by")) in ORDERS else "newest",
        )

    @property
    def order(self) -> KeysetOrder:
        """Return the order of the list."""
        return ORDERS[self.by][1]

    @property
    def is_restricting(self) -> bool:
        """Return True if some filter is set."""
        return self != MemoryFilters(by=self.by)

    @property
    def has_more(self) -> bool:
        """Return True if a filter is set that the page folds away."""
        texts, numbers = (self.writer, self.source, self.tag), (self.least, self.most, self.since, self.until)
        return any(texts) or any(each is not None for each in numbers)


def list_memories(*, project_id: UUID, filters: MemoryFilters) -> MemoryQuerySet:
    """Return the memories of a project that match, with the rows that the list shows, in no order."""
    rows = Memory.objects.for_project(project_id).to_show().order_by()
    exact = {"status": filters.status, "type": filters.type, "source_confidence": filters.source}
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if filters.user_id:
        rows = rows.for_end_user(filters.user_id)
    if filters.user:
        rows = rows.filter(end_user__external_id__icontains=filters.user)
    if filters.words:
        rows = rows.of_words(filters.words)
    if filters.tag:
        rows = rows.filter(tags__contains=[filters.tag])
    if filters.writer:
        rows = rows.filter(_WRITTEN_BY[MemoryWriter(filters.writer)])
    if filters.visibility:
        rows = _VISIBLE[Visibility(filters.visibility)](rows, project_id)
    ranges = {
        "confidence__gte": filters.least,
        "confidence__lte": filters.most,
        "created_at__gte": filters.since,
        "created_at__lt": filters.until,
    }
    return rows.filter(**{name: value for name, value in ranges.items() if value is not None})


_BY_TABLE = Q(extractor__startswith="plain:") | Q(extractor__startswith="patterns:")
_WRITTEN_BY: Mapping[MemoryWriter, Q] = {
    MemoryWriter.PLAIN: Q(trace__isnull=False) & _BY_TABLE,
    MemoryWriter.MODEL: Q(trace__isnull=False) & ~_BY_TABLE,
    MemoryWriter.DIRECT: Q(trace__isnull=True),
}


def _shown(rows: MemoryQuerySet, project_id: UUID) -> MemoryQuerySet:
    now, stakes = timezone.now(), Stakes.NORMAL
    least = active_policy(project_id=project_id).retrieval.least_confidence[stakes]
    return rows.filter(status__in=shown_statuses(stakes), confidence__gte=least).true_at(now)


def _held_back(rows: MemoryQuerySet, project_id: UUID) -> MemoryQuerySet:
    least = active_policy(project_id=project_id).retrieval.least_confidence[Stakes.NORMAL]
    return rows.filter(Q(status=Status.PENDING_REVIEW) | Q(status=Status.ACTIVE, confidence__lt=least))


_VISIBLE: Mapping[Visibility, Callable[[MemoryQuerySet, UUID], MemoryQuerySet]] = {
    Visibility.SHOWN: _shown,
    Visibility.HELD_BACK: _held_back,
    Visibility.EXPIRED: lambda rows, project_id: rows.expired(timezone.now()),
    Visibility.ENDED: lambda rows, project_id: rows.filter(valid_until__lte=timezone.now()),
}


def _one_of(request: HttpRequest, name: str, choices: type[StrEnum]) -> str:
    given = query_param(request, name)
    return given if given in set(choices) else ""


def _share(text: str) -> float | None:
    """Return a number from 0 to 1; None for any other text."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None
