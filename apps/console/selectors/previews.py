"""A preview with the turns and memories that it names, as far as they still exist."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.memories.models import Memory
from apps.traces.models import RulePreview, Turn

LOST_AFTER = timedelta(minutes=5)  # a worker takes two at most


@dataclass(frozen=True, slots=True)
class Example:
    """One turn that would be treated otherwise."""

    turn: Turn
    before: str
    after: str
    memories: list[Memory]


@dataclass(frozen=True, slots=True)
class ShownPreview:
    """What a page shows of a preview; examples by kind, the harmful ones first."""

    preview: RulePreview
    examples: Mapping[str, list[Example]]

    @property
    def is_lost(self) -> bool:
        """Tell whether it will never end: its worker was stopped."""
        return not self.preview.is_over and self.preview.created_at < timezone.now() - LOST_AFTER

    @property
    def is_partial(self) -> bool:
        """Tell whether time ran out before all turns were tried."""
        return self.preview.is_over and self.preview.turns_done < self.preview.turns_total


def shown_preview(preview: RulePreview) -> ShownPreview:
    """Read a preview's examples; two statements, none while it runs."""
    if not preview.is_over:
        return ShownPreview(preview, {})
    users = {UUID(each["end_user"]) for each in preview.examples}
    turns = Turn.objects.select_related("end_user").filter(
        end_user_id__in=users, pk__in=[each["turn"] for each in preview.examples]
    )
    ids = [memory for each in preview.examples for memory in each["memories"]]
    memories = {str(row.pk): row for row in Memory.objects.filter(end_user_id__in=users, pk__in=ids)}
    known = {str(turn.pk): turn for turn in turns}
    examples: defaultdict[str, list[Example]] = defaultdict(list)
    for each in preview.examples:
        if turn := known.get(each["turn"]):
            examples[each["kind"]].append(_example(each, turn, memories))
    return ShownPreview(preview, {kind: examples[kind] for kind in ("harmful", "dropped", "kept") if examples[kind]})


def _example(each: Mapping[str, Any], turn: Turn, memories: Mapping[str, Memory]) -> Example:
    made = [memories[memory] for memory in each["memories"] if memory in memories]
    return Example(turn=turn, before=each["before"], after=each["after"], memories=made)
