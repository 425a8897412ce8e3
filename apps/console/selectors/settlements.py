"""How a pair is or was settled, in words; the page calls the older memory A and the newer one B."""

from uuid import UUID

from apps.console.labels import time_since
from apps.console.selectors.history import latest_changes
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkResolution

MAX_CHARACTERS = 90  # of a statement that is quoted


def older_first(link: MemoryLink) -> tuple[Memory, Memory]:
    """Return both memories in the order in which they were said."""
    one, other = link.from_memory, link.to_memory
    return (one, other) if one.said_at < other.said_at else (other, one)


def keeping(link: MemoryLink, memory: Memory) -> LinkResolution:
    """Return how a pair is settled if one of its memories alone is true."""
    return LinkResolution.KEPT_FROM if memory.pk == link.from_memory_id else LinkResolution.KEPT_TO


def settled_pair(*, project_id: UUID, link_id: UUID) -> MemoryLink | None:
    """Return a pair that was settled, None for an open one."""
    rows = MemoryLink.objects.for_project(project_id).select_related("from_memory", "to_memory")
    return rows.filter(pk=link_id, settled_at__isnull=False).first()


def settlement_text(link: MemoryLink) -> str:
    """Return how a pair was settled, such as "kept “…”, rejected the other"; empty if no person did."""
    if link.resolution not in set(LinkResolution):
        return ""
    match LinkResolution(link.resolution):
        case LinkResolution.KEPT_FROM:
            return f"kept “{_cut(link.from_memory.content)}”, rejected the other"
        case LinkResolution.KEPT_TO:
            return f"kept “{_cut(link.to_memory.content)}”, rejected the other"
        case LinkResolution.CHANGED:
            return "dated the change: the newer one supersedes the older one"
        case LinkResolution.BOTH:
            return "kept both"
        case LinkResolution.MERGED:
            return f"merged into “{_cut(link.to_memory.content)}”"


def settled_by(*, project_id: UUID, link_id: UUID) -> str:
    """Return who settled a pair, how and when; empty while it is open."""
    link = settled_pair(project_id=project_id, link_id=link_id)
    if link is None or link.settled_at is None:
        return ""
    sides = [link.from_memory_id, link.to_memory_id]
    changes = latest_changes(project_id=project_id, memory_ids=sides).values()
    actor = max(changes, key=lambda change: change.at).actor if changes else "somebody"
    done = settlement_text(link) or "closed the pair"
    return f"{actor} already {done} ({time_since(link.settled_at)})"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"
