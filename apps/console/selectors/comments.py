"""Comments of reviewers on memories."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.console.selectors.people import names_of
from apps.memories.models import Memory, MemoryComment
from apps.memories.querysets import MemoryLinkQuerySet, MemoryQuerySet

MOST_COMMENTS = 50


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


def with_comment_count(memories: MemoryQuerySet) -> MemoryQuerySet:
    """Annotate the number of comments on each memory (`comment_count`)."""
    comments = MemoryComment.objects.filter(end_user=OuterRef("end_user"), memory=OuterRef("pk"))
    return memories.annotate(comment_count=_counted(comments, "memory"))


def pairs_with_comment_count(links: MemoryLinkQuerySet) -> MemoryLinkQuerySet:
    """Annotate the number of comments on either memory of each pair (`comment_count`)."""
    of_pair = Q(memory=OuterRef("from_memory")) | Q(memory=OuterRef("to_memory"))
    comments = MemoryComment.objects.filter(of_pair, end_user=OuterRef("end_user"))
    return links.annotate(comment_count=_counted(comments, "end_user"))


def _counted(comments: QuerySet[MemoryComment], by: str) -> Coalesce:
    return Coalesce(Subquery(comments.order_by().values(by).annotate(rows=Count("id")).values("rows")), 0)
