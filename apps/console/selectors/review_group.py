"""The members of an open group of the review queue: who said it, and what approving each of them changes."""

from dataclasses import dataclass
from datetime import datetime

from apps.actions.review.review_decisions import SeenVersion
from apps.console.selectors.consequences import review_options
from apps.console.selectors.review import ReviewGroup
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkStatus
from apps.traces.policies import active_policy


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A pending memory of a group; a decision takes it in the version that was shown."""

    memory: Memory
    seen: SeenVersion
    approval: str  # what approving it changes, in words


def load_members(group: ReviewGroup, *, now: datetime) -> tuple[GroupMember, ...]:
    """Return the members of a group, in its order (three queries, and one round trip for each member)."""
    rows = {row.pk: row for row in Memory.objects.filter(pk__in=group.ids).awaiting_review().to_show()}
    links = MemoryLink.objects.filter(kind=LinkKind.CONTRADICTS, status=LinkStatus.OPEN)
    pairs = [
        *links.filter(from_memory__in=group.ids).values_list("from_memory", "to_memory"),
        *links.filter(to_memory__in=group.ids).values_list("to_memory", "from_memory"),
    ]
    policy = active_policy(project_id=group.leader.project_id)
    members = []
    for memory in (rows[id] for id in group.ids if id in rows):
        contradicts = [other for one, other in pairs if one == memory.pk]
        lines = review_options(memory, contradicts=contradicts, merge_into=None, policy=policy, now=now).lines
        text = next((line.text for line in lines if line.decision == "Approve"), "")
        members.append(GroupMember(memory, SeenVersion(memory.pk, memory.version), approval=text))
    return tuple(members)
