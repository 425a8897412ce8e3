"""The members of an open group of the review queue: who said it, and what approving each of them changes."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from apps.actions.review.services import SeenVersion
from apps.console.selectors.consequences import approval_texts
from apps.console.selectors.review import ReviewGroup
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus
from apps.pipeline.core.policy import Policy


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A pending memory of a group; a decision takes it in the version that was shown."""

    memory: Memory
    seen: SeenVersion
    approval: str  # what approving it changes, in words


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
