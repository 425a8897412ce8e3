"""Rollbacks as people read them."""

from collections.abc import Mapping

from apps.console.charts import CountTile
from apps.console.labels import count_of, label
from apps.pipeline.core.enums import LeftAlone, Status
from apps.tuning.rollbacks.requests import PreviewedMemory, RollbackPreview
from apps.tuning.rollbacks.running import ShownKept

MOST_SHOWN = 100  # memories in a list
_WHY: dict[LeftAlone, str] = {
    LeftAlone.EDITED: "a person or a caller has changed it since",
    LeftAlone.SAID_ELSEWHERE: "other requests say it too: it stays with their words and sources",
    LeftAlone.SAID_AGAIN: "another memory says the same by now",
    LeftAlone.BUILT_UPON: "it was compared with a memory that goes, and may wait for review because of it",
    LeftAlone.RUN_AGAIN: "the requests were run again; roll that back instead",
    LeftAlone.ROLLED_BACK_SINCE: "a later rollback has changed it; undo that one first",
    LeftAlone.REPEATED: "its turn was rejected as a repetition of one that goes; it may be sent again",
}
_SHOWN_COUNTS = {
    "traces": "Traces",
    "memories_retracted": "Memories retracted",
    "memories_restored": "Memories restored",
    "memories_changed": "Memories changed",
    "sources_withdrawn": "Sources withdrawn",
    "entities_withdrawn": "Entities withdrawn",
    "links_closed": "Links closed",
    "work_cancelled": "Work cancelled",
    "left_alone": "Left alone",
    "undone_traces": "Traces restored by the undo",
    "undo_left_alone": "Left alone by the undo",
}


def tiles_of(counts: Mapping[str, int]) -> list[CountTile]:
    """Return the numbers of a rollback to show; those that are 0 are left out."""
    return [CountTile(name, counts[key]) for key, name in _SHOWN_COUNTS.items() if counts.get(key)]


def undo_text(counts: Mapping[str, int]) -> str:
    """Return what an undo has restored, and what it has not."""
    restored, traces, kept = (counts.get(key, 0) for key in ("undone_traces", "traces", "undo_left_alone"))
    left = f"{count_of(kept, 'memory', 'memories')} left alone: see below why" if kept else ""
    if not restored:
        return f"Nothing was restored; {left or 'its traces were run again or are gone'}."
    some = f"The undo has restored {restored:,} of {count_of(traces, 'trace')}"
    return f"{some}; {left}." if left else f"{some}."


def explained_kept(kept: tuple[ShownKept, ...]) -> list[tuple[ShownKept, str]]:
    """Return what is left alone with the reasons as sentences, what can be forced first."""
    ordered = sorted(kept, key=lambda each: not each.can_be_forced)
    return [(each, _WHY[each.reason]) for each in ordered[:MOST_SHOWN]]


def explained_changes(preview: RollbackPreview) -> list[tuple[PreviewedMemory, str]]:
    """Return the memories that would change with what happens to them, what is retracted first."""
    ordered = sorted(preview.memories, key=lambda each: each.becomes != Status.RETRACTED)
    return [(each, _what(each)) for each in ordered[:MOST_SHOWN]]


def _what(each: PreviewedMemory) -> str:
    if "status" in each.changes:
        return f"becomes {label(each.becomes)}"
    if "content" in each.changes and each.changes["content"] != each.memory.content:
        return f"gets its former words: {each.changes['content']}"
    if "valid_until" in each.changes:
        return "gets its former end"
    return "loses sources, and confidence with them" if "recurrence" in each.changes else "gets former values"
