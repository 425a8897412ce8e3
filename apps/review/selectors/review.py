"""The review queue in groups of the same words, and how much waits."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, CharField, Count, F, Func, Max, Min, QuerySet, When, Window
from django.db.models.functions import Coalesce, RowNumber
from django.http import HttpRequest

from apps.alerts.models import Alert
from apps.console.paging import query_param
from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import LinkKind, MemoryType, Reason
from apps.review.selectors.cases import with_comment_count
from apps.review.services import SeenVersion
from apps.review.skipping import place_among

MAX_COUNT = 1_000


def pending_counts(*, project_id: UUID) -> dict[str, int]:
    """Count pending reviews, open contradictions and duplicates, and open alerts up to a limit."""
    links = MemoryLink.objects.for_project(project_id).to_settle().order_by()
    kinds = Counter(links.values_list("kind", flat=True)[:MAX_COUNT])
    return {
        "review": count_pending(project_id=project_id),
        "contradictions": kinds[LinkKind.CONTRADICTS],
        "duplicates": kinds[LinkKind.POSSIBLE_DUPLICATE],
        "alerts": Alert.objects.for_project(project_id).open().order_by()[:MAX_COUNT].count(),
    }


def count_pending(*, project_id: UUID) -> int:
    """Count the memories that wait for review, up to a limit."""
    return Memory.objects.for_project(project_id).awaiting_review().order_by()[:MAX_COUNT].count()


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """Pending memories with the same words, riskiest first: a row of the queue, mostly of a single memory."""

    leader: Memory
    members: tuple[SeenVersion, ...]  # at most MOST_MEMBERS, the leader first
    size: int
    users: int  # of these members
    is_skipped: bool = False
    comments: int = 0

    @property
    def pk(self) -> UUID:
        """Return the identifier by which the row is opened."""
        return self.leader.pk

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Return the identifiers of the members."""
        return tuple(each.memory_id for each in self.members)

    @property
    def seen(self) -> str:
        """Return the members with their versions, as a form sends them."""
        return " ".join(map(str, self.members))


MOST_MEMBERS = 50  # of a group that one decision takes; the others stay in the queue as a row of their own


@dataclass(frozen=True, slots=True)
class ReviewFilters:
    """Filters of the review queue."""

    reason: str = ""
    type: str = ""
    user: str = ""
    words: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> "ReviewFilters":
        """Read the filters from a query string; unknown values are ignored."""
        reason, type_ = query_param(request, "reason"), query_param(request, "type")
        return cls(
            reason=reason if reason in set(Reason) else "",
            type=type_ if type_ in set(MemoryType) else "",
            user=query_param(request, "user"),
            words=query_param(request, "q"),
        )

    @property
    def query(self) -> str:
        """Return the query string that has these filters."""
        given = {"reason": self.reason, "type": self.type, "user": self.user, "q": self.words}
        return urlencode({name: value for name, value in given.items() if value})


def review_queue(
    *, project_id: UUID, filters: ReviewFilters, skipped: Sequence[UUID] = ()
) -> QuerySet[Any, dict[str, Any]]:
    """Return the wordings of pending memories, riskiest first; load_groups() makes rows of them.

    Contradictions come first, then the most important, then the oldest; skipped ones last, in the order of skipping.
    """
    groups = _pending(project_id, filters).order_by().values("wording")
    return groups.annotate(
        skipped=Coalesce(Max(place_among(skipped)), 0),
        risk=Min(_risk()),
        most_important=Max("importance"),
        oldest=Min("created_at"),
        size=Count("id"),
    ).order_by("skipped", "risk", "-most_important", "oldest", "wording")


def load_groups(wordings: Sequence[dict[str, Any]], *, project_id: UUID, filters: ReviewFilters) -> list[ReviewGroup]:
    """Return the groups of some wordings, in their order (two queries); those decided about meanwhile are left out."""
    order = [_risk().asc(), F("importance").desc(), F("created_at").asc(), F("id").asc()]
    place = Window(RowNumber(), partition_by=F("wording"), order_by=order)
    rows = _pending(project_id, filters).filter(wording__in=[each["wording"] for each in wordings])
    listed = rows.order_by().annotate(place=place).filter(place__lte=MOST_MEMBERS).order_by("place")
    members: dict[int, list[tuple[SeenVersion, UUID]]] = {}
    for wording, id, version, user in listed.values_list("wording", "id", "version", "end_user_id"):
        members.setdefault(wording, []).append((SeenVersion(id, version), user))
    first = [of_group[0][0].memory_id for of_group in members.values()]
    shown = with_comment_count(Memory.objects.for_project(project_id).filter(pk__in=first).to_show())
    leaders = {row.pk: row for row in shown}
    groups = []
    for each in wordings:
        found = members.get(each["wording"], [])
        if found and (leader := leaders.get(found[0][0].memory_id)):
            seen, users = tuple(one for one, _ in found), len({user for _, user in found})
            size = max(each["size"], len(seen))
            groups.append(
                ReviewGroup(
                    leader,
                    seen,
                    size=size,
                    users=users,
                    is_skipped=each["skipped"] > 0,
                    comments=leader.comment_count,
                )
            )
    return groups


def group_of(memory: Memory, *, filters: ReviewFilters) -> ReviewGroup | None:
    """Return the group that a pending memory is in; None for a memory that is not in the queue with these filters."""
    wording = Memory.objects.filter(pk=memory.pk).values("wording")
    queue = review_queue(project_id=memory.project_id, filters=filters).filter(wording__in=wording)
    found = load_groups(list(queue), project_id=memory.project_id, filters=filters)
    return found[0] if found and memory.pk in found[0].ids else None


def _pending(project_id: UUID, filters: ReviewFilters) -> MemoryQuerySet:
    rows = apply_filters(Memory.objects.for_project(project_id).awaiting_review(), filters)
    return rows.filter(review_reasons__contains=[filters.reason]) if filters.reason else rows


def _risk() -> Case:
    return Case(When(review_reasons__contains=[Reason.CONTRADICTION], then=0), default=1)


def apply_filters(rows: MemoryQuerySet, filters: ReviewFilters) -> MemoryQuerySet:
    """Apply all filters except the reason."""
    if filters.type:
        rows = rows.filter(type=filters.type)
    if filters.user:
        rows = rows.filter(end_user__external_id__icontains=filters.user)
    if filters.words:
        rows = rows.of_words(filters.words)
    return rows


def count_by_reason(*, project_id: UUID, filters: ReviewFilters) -> list[tuple[str, int]]:
    """Count pending memories by reason, most frequent first; a memory counts once for each of its reasons."""
    rows = apply_filters(Memory.objects.for_project(project_id).awaiting_review(), filters)
    each = Func(F("review_reasons"), function="unnest", output_field=CharField())
    counted = rows.order_by().annotate(reason=each).values_list("reason").annotate(rows=Count("id"))
    return sorted(((str(reason), count) for reason, count in counted), key=lambda pair: -pair[1])
