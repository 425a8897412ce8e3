"""Who changed a memory and why, how two memories were compared, and how a pair was settled."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce

from apps.console.labels import label, names_of, time_since
from apps.memories.models import LedgerEntry, Memory, MemoryLink, MemoryVector, MemoryVersion
from apps.memories.services.revising import APPROVED
from apps.pipeline.core.enums import LinkResolution, Stage
from apps.pipeline.core.policy import SimilarityBand
from apps.traces.models import Span

MAX_CHARACTERS = 90  # of a statement that is quoted
UNCERTAIN = "kept as uncertain"
MAX_ENTRIES = 20
REJECTED = "rejected"  # the operation in the history and the verb in the ledger


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change of a memory, who made it, and the reason of a rejection."""

    operation: str
    what: str
    actor: str
    at: datetime
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.actor} already {label(self.operation)} it ({time_since(self.at)})"


def changes_of(memory: Memory) -> list[MemoryVersion]:
    """Return the changes of a memory, latest first."""
    rows = MemoryVersion.objects.filter(end_user_id=memory.end_user_id, memory=memory)
    return list(rows.order_by("-version")[:MAX_ENTRIES])


def change_text(change: MemoryVersion) -> str:
    """Return what a change did; "approved" in the history stands for every kind of approval."""
    if change.operation != APPROVED:
        return label(change.operation)
    approval = UNCERTAIN if "source_confidence" in change.values else "approved"
    is_edited = not change.values.keys().isdisjoint(("content", "object_text"))
    return f"edited and {approval}" if is_edited else approval


def rejection_reasons(changes: Iterable[MemoryVersion]) -> dict[UUID, str]:
    """Return the reasons of the rejections among some changes, by change (one query, if there are rejections).

    The changes of a memory have to include its latest rejection: reasons are in the ledger, whose oldest entries may
    be gone, so both are compared from the latest one on.
    """
    rejections: defaultdict[UUID, list[MemoryVersion]] = defaultdict(list)
    for each in changes:
        if each.operation == REJECTED:
            rejections[each.memory_id].append(each)
    if not rejections:
        return {}
    users = {each.end_user_id for several in rejections.values() for each in several}
    entries = LedgerEntry.objects.filter(end_user__in=users, object_id__in=rejections, verb=REJECTED)
    notes: defaultdict[UUID, list[str]] = defaultdict(list)
    for memory_id, note in entries.order_by("-id").values_list("object_id", "details__note"):
        notes[memory_id].append(note or "")
    reasons: dict[UUID, str] = {}
    for memory_id, several in rejections.items():
        latest_first = sorted(several, key=lambda each: each.version, reverse=True)
        reasons |= {each.pk: note for each, note in zip(latest_first, notes[memory_id], strict=False) if note}
    return reasons


def latest_changes(*, project_id: UUID, memory_ids: Iterable[UUID]) -> dict[UUID, HistoryEntry]:
    """Return the latest change of each of some memories of a project."""
    rows = MemoryVersion.objects.filter(memory__in=list(memory_ids), memory__project_id=project_id)
    latest = list(rows.order_by("memory_id", "-version").distinct("memory_id"))
    names, reasons = names_of(each.actor for each in latest), rejection_reasons(latest)
    return {
        each.memory_id: HistoryEntry(
            each.operation, change_text(each), names[each.actor], each.known_until, reasons.get(each.pk, "")
        )
        for each in latest
    }


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
            return f"kept “{shortened(link.from_memory.content)}”, rejected the other"
        case LinkResolution.KEPT_TO:
            return f"kept “{shortened(link.to_memory.content)}”, rejected the other"
        case LinkResolution.CHANGED:
            return "dated the change: the newer one supersedes the older one"
        case LinkResolution.BOTH:
            return "kept both"
        case LinkResolution.UNRELATED:
            return "kept both, which are about different things"
        case LinkResolution.MERGED:
            return f"merged into “{shortened(link.to_memory.content)}”"


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


def shortened(text: str) -> str:
    """Return a statement as it is quoted."""
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 1]}…"


def load_comparisons(links: Iterable[MemoryLink]) -> dict[UUID, dict[str, Any]]:
    """Return the verdict of deduplication by link, for links whose memories were compared (one query).

    `by` is the tier that decided: facts, hash, value, cosine or judge. From the cosine `unsure` a judge or a person
    decides. `guards` are kinds of difference between the texts; `mark`, `band_start` and `band_width` are in percent.
    """
    written = [link for link in links if link.trace_id is not None]
    if not written:
        return {}
    users = {link.end_user_id for link in written}
    # The later memory of a link was written by the trace of the link.
    later = {link.from_memory_id for link in written}
    vectors = MemoryVector.objects.filter(end_user_id=OuterRef("end_user_id"), memory__trace_id=OuterRef("trace_id"))
    embedder = Subquery(vectors.filter(memory__in=later).values("embedder")[:1])
    spans = Span.objects.filter(
        end_user_id__in=users, trace_id__in={link.trace_id for link in written}, stage=Stage.DEDUPE
    )
    found = spans.select_related("trace__configuration").annotate(embedder=Coalesce(embedder, Value("")))
    by_trace = {span.trace_id: span for span in found}
    comparisons: dict[UUID, dict[str, Any]] = {}
    for link in written:
        span = by_trace.get(link.trace_id) if link.trace_id else None
        if span is None:
            continue
        # What deduplication recorded about the other memory, for the candidate that became this one.
        compared = span.details.get("compared", {}).get(str(link.from_memory.candidate_index), {})
        note = next((each for each in compared.get("near", ()) if each["memory"] == str(link.to_memory_id)), None)
        if note is None or note["cosine"] is None:
            continue
        band: SimilarityBand = span.trace.configuration.as_policy().dedupe.band(embedder=span.embedder)
        comparisons[link.pk] = {
            "verdict": note["verdict"],
            "by": note["tier"],
            "cosine": note["cosine"],
            "unsure": band.unsure,
            "guards": note["guards"],
            "mark": round(note["cosine"] * 100, 1),
            "band_start": round(band.unsure * 100, 1),
            "band_width": round((1 - band.unsure) * 100, 1),
        }
    return comparisons
