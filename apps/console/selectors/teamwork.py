"""What reviewers leave for each other about memories: comments, assignments, and who looks at them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Count, OuterRef, Q, Subquery, Value
from django.db.models.functions import Coalesce

from apps.console.selectors.people import names_of
from apps.memories.models import Memory, MemoryComment, ReviewAssignment
from apps.memories.querysets import MemoryLinkQuerySet, MemoryQuerySet
from apps.pipeline.core.enums import MemberRole
from apps.tenants.models import Membership

MOST_COMMENTS = 50
_OF_PAIR = Q(memory=OuterRef("from_memory")) | Q(memory=OuterRef("to_memory"))
MOST_MEMBERS = 200


@dataclass(frozen=True, slots=True)
class ShownComment:
    """A comment with the name of its author."""

    author: str
    text: str
    at: datetime


def comments_on(*memories: Memory) -> tuple[ShownComment, ...]:
    """Return the latest comments on memories of one end user, oldest first (two queries)."""
    latest = latest_comments(*memories)
    return named_comments(latest, names_of(each.author for each in latest))


def latest_comments(*memories: Memory) -> list[MemoryComment]:
    """Return the latest comments on memories of one end user, oldest first; named_comments() names their authors."""
    rows = MemoryComment.objects.filter(end_user_id=memories[0].end_user_id, memory__in=memories).order_by("-id")
    return list(rows[:MOST_COMMENTS])[::-1]


def named_comments(comments: Iterable[MemoryComment], names: Mapping[str, str]) -> tuple[ShownComment, ...]:
    """Return comments with the names of their authors."""
    return tuple(ShownComment(names[each.author], each.text, each.created_at) for each in comments)


def with_teamwork(memories: MemoryQuerySet) -> MemoryQuerySet:
    """Annotate the name of whom a memory is assigned to (`assignee`) and the number of comments (`comment_count`)."""
    of_memory = {"end_user": OuterRef("end_user"), "memory": OuterRef("pk")}
    assigned = ReviewAssignment.objects.filter(**of_memory)
    comments = MemoryComment.objects.filter(**of_memory).order_by().values("memory")
    return memories.annotate(
        assignee=Coalesce(Subquery(assigned.values("person__username")), Value("")),
        comment_count=Coalesce(Subquery(comments.annotate(rows=Count("id")).values("rows")), 0),
    )


def pairs_with_teamwork(links: MemoryLinkQuerySet) -> MemoryLinkQuerySet:
    """Annotate pairs as `with_teamwork` does memories; what is assigned or said is so of either memory."""
    of_pair = {"end_user": OuterRef("end_user")}
    comments = MemoryComment.objects.filter(_OF_PAIR, **of_pair).order_by().values("end_user")
    return links.annotate(
        assignee=Coalesce(
            Subquery(ReviewAssignment.objects.filter(_OF_PAIR, **of_pair).values("person__username")[:1]), Value("")
        ),
        comment_count=Coalesce(Subquery(comments.annotate(rows=Count("id")).values("rows")), 0),
    )


def pairs_of(links: MemoryLinkQuerySet, person_id: int) -> MemoryLinkQuerySet:
    """Filter pairs of which either memory is assigned to a person."""
    # Hashed once, where a correlated condition would be looked up for each of many open pairs.
    assigned = ReviewAssignment.objects.filter(person=person_id).values("memory")
    return links.filter(Q(from_memory__in=assigned) | Q(to_memory__in=assigned))


def assignee_name(*memory_ids: UUID) -> str:
    """Return the name of whom one of some memories is assigned to; empty if nobody is."""
    names = ReviewAssignment.objects.filter(memory__in=memory_ids).order_by("pk")
    return names.values_list("person__username", flat=True).first() or ""


def count_assigned(*, project_id: UUID, person_id: int) -> int:
    """Count the pending memories that are assigned to a person."""
    rows = Memory.objects.for_project(project_id).awaiting_review()
    return rows.filter(assignments__person=person_id).count()


def reviewers_of(*, project_id: UUID) -> list[User]:
    """Return the members who may review, by name."""
    members = Membership.objects.filter(project_id=project_id, user__is_active=True).exclude(role=MemberRole.VIEWER)
    found = members.select_related("user").order_by("user__username")[:MOST_MEMBERS]
    return [each.user for each in found]


def presence_text(person_ids: Sequence[int]) -> str:
    """Return who else looks at something, such as "rita is looking at it"; empty for nobody."""
    names = sorted(User.objects.filter(pk__in=person_ids).values_list("username", flat=True))
    if not names:
        return ""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} looking at it"
