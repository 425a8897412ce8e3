"""The review queue, what was decided about a case meanwhile, and how much waits."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Case, CharField, Count, F, Func, Max, Min, Q, QuerySet, When, Window
from django.db.models.functions import Coalesce, RowNumber
from django.http import HttpRequest

from apps.alerts.models import Alert
from apps.console.labels import label, time_since
from apps.console.paging import query_param
from apps.memories.models import Memory, MemoryComment, MemoryLink
from apps.memories.querysets import MemoryQuerySet
from apps.pipeline.core.enums import LinkKind, LinkStatus, MemoryType, Reason, Status
from apps.pipeline.core.policy import Policy
from apps.pipeline.review.decisions import is_asserted
from apps.review.selectors.cases import approval_texts, with_comment_count
from apps.review.selectors.comparisons import settled_by
from apps.review.selectors.history import latest_changes
from apps.review.services import SeenVersion
from apps.review.skipping import place_among

MOST_NAMED = 3
MAX_CHARACTERS = 90  # of a statement that is quoted


def closed_by(*, project_id: UUID, memory_ids: Collection[UUID]) -> str:
    """Return in words what some memories have replaced, "" for nothing."""
    replaced = Memory.objects.for_project(project_id).filter(superseded_by__in=memory_ids, status=Status.SUPERSEDED)
    contents = list(replaced.order_by("-updated_at", "id").values_list("content", flat=True)[: MOST_NAMED + 1])
    cut = (each if len(each) <= MAX_CHARACTERS else f"{each[: MAX_CHARACTERS - 1]}…" for each in contents[:MOST_NAMED])
    quoted = [f"“{each}”" for each in cut]
    more = " and others" if len(contents) > MOST_NAMED else ""
    return f"{', '.join(quoted)}{more}"


@dataclass(frozen=True, slots=True)
class AbsentMemory:
    """A memory that is not listed, None if it was deleted, and what is said about it."""

    memory: Memory | None
    why: str


def absent_memory(*, project_id: UUID, memory_id: UUID) -> AbsentMemory:
    """Return a memory that the page of the queue does not list, and why, such as who decided about it."""
    memory = Memory.objects.for_project(project_id).to_show().filter(pk=memory_id).first()
    if memory is None:
        return AbsentMemory(None, "The memory of this address does not exist any more.")
    if memory.status == Status.PENDING_REVIEW:
        return AbsentMemory(memory, "This memory still waits for a decision, but not on this page of the list.")
    change = latest_changes(project_id=project_id, memory_ids=[memory_id]).get(memory_id)
    if change is None:
        return AbsentMemory(memory, f"This memory does not wait for a decision: it is {label(memory.status)}.")
    return AbsentMemory(memory, f"{change.actor} already {label(change.operation)} it ({time_since(change.at)}).")


@dataclass(frozen=True, slots=True)
class AbsentPair:
    """A pair that is not listed, None if it was deleted, and what is said about it."""

    link: MemoryLink | None
    why: str


def absent_pair(*, project_id: UUID, link_id: UUID) -> AbsentPair:
    """Return a pair that the page of the queue does not list, and why, such as who settled it."""
    rows = MemoryLink.objects.for_project(project_id).select_related("from_memory", "to_memory", "end_user")
    link = rows.filter(pk=link_id).first()
    if link is None:
        return AbsentPair(None, "The pair of this address does not exist any more.")
    if link.status != LinkStatus.OPEN:
        return AbsentPair(link, f"{settled_by(project_id=project_id, link_id=link_id)}.")
    if not MemoryLink.objects.filter(pk=link_id).to_settle().exists():
        return AbsentPair(link, "This pair needs no decision any more: one of the two is no longer live.")
    return AbsentPair(link, "This pair still waits for a decision, but not on this page of the list.")


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
class ApprovalPreview:
    """What approving several memories does: how many become active, and what to know of these; the others stay."""

    approved: int
    rules: int
    disputed: int
    commented: int
    not_asserted: int
    gone: int


def preview_approval(*, project_id: UUID, memory_ids: Sequence[UUID]) -> ApprovalPreview:
    """Predict what approving several memories at once does, with three queries."""
    waiting = list(Memory.objects.for_project(project_id).awaiting_review().filter(pk__in=memory_ids))
    approved = {each.pk: each for each in waiting if is_asserted(each)}
    links = MemoryLink.objects.for_project(project_id).to_settle().filter(kind=LinkKind.CONTRADICTS)
    pairs = links.filter(Q(from_memory__in=approved) | Q(to_memory__in=approved)).order_by()
    ends = {each for pair in pairs.values_list("from_memory_id", "to_memory_id") for each in pair}
    comments = MemoryComment.objects.filter(memory__in=approved).order_by().values_list("memory_id").distinct()
    return ApprovalPreview(
        approved=len(approved),
        rules=sum(each.is_rule for each in approved.values()),
        disputed=len(ends & approved.keys()),
        commented=comments.count(),
        not_asserted=len(waiting) - len(approved),
        gone=len(set(memory_ids)) - len(waiting),
    )


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A pending memory of a group; a decision takes it in the version that was shown."""

    memory: Memory
    seen: SeenVersion
    approval: str  # what approving it changes, in words


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
        return " ".join(f"{each.memory_id}:{each.version}" for each in self.members)


def load_members(group: ReviewGroup, *, policy: Policy, now: datetime) -> tuple[GroupMember, ...]:
    """Return the members of a group, in its order (three queries, however many members)."""
    rows = {row.pk: row for row in Memory.objects.filter(pk__in=group.ids).awaiting_review().to_show()}
    members = [rows[id] for id in group.ids if id in rows]
    texts = approval_texts(members, contradicts=_contradictions(group.ids), policy=policy, now=now)
    return tuple(GroupMember(each, SeenVersion(each.pk, each.version), texts.get(each.pk, "")) for each in members)


def _contradictions(ids: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    open_ones = MemoryLink.objects.filter(kind=LinkKind.CONTRADICTS, status=LinkStatus.OPEN)
    links = open_ones.filter(Q(from_memory__in=ids) | Q(to_memory__in=ids))
    found: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for one, other in links.values_list("from_memory", "to_memory"):
        found[one].append(other)
        found[other].append(one)
    return found


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


def is_more_of(*, project_id: UUID, memory_ids: Sequence[UUID]) -> bool:
    """Return True if pending memories have the same words as some others."""
    wordings = Memory.objects.for_project(project_id).filter(pk__in=memory_ids).values("wording")
    return Memory.objects.for_project(project_id).awaiting_review().filter(wording__in=wordings).exists()


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
