"""Memories in every state that have some words, with who decided about them and what replaced them."""

from dataclasses import dataclass
from uuid import UUID

from apps.memories.models import Memory
from apps.review.selectors.comparisons import HistoryEntry, latest_changes

MAX_ROWS = 20


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory, its latest change, and the one that replaced it or that it was merged into."""

    memory: Memory
    change: HistoryEntry | None
    successor: Memory | None


def found_memories(*, project_id: UUID, user: str, words: str) -> list[FoundMemory]:
    """Return the latest memories with all of the words in any order, of all users or of one (four queries)."""
    rows = Memory.objects.for_project(project_id).to_show().of_words(words)
    if user:
        rows = rows.filter(end_user__external_id=user)
    memories = list(rows.order_by("-said_at", "-id")[:MAX_ROWS])
    changes = latest_changes(project_id=project_id, memory_ids=[each.pk for each in memories])
    following = {each.superseded_by_id for each in memories if each.superseded_by_id}
    successors = Memory.objects.for_project(project_id).in_bulk(following)
    return [FoundMemory(each, changes.get(each.pk), successors.get(each.superseded_by_id)) for each in memories]
