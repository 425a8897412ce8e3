"""The result of a rule preview, with the turns and memories that still exist."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from apps.memories.models import Memory
from apps.traces.models import RulePreview, Turn

LOST_AFTER = timedelta(minutes=5)  # a preview takes two at most


@dataclass(frozen=True, slots=True)
class PreviewExample:
    """A turn that the rule would treat differently."""

    turn: Turn
    before: str
    after: str
    memories: list[Memory]


@dataclass(frozen=True, slots=True)
class PreviewReport:
    """A preview with its examples by kind, harmful ones first."""

    preview: RulePreview
    examples: Mapping[str, list[PreviewExample]]

    @property
    def is_lost(self) -> bool:
        """Return True if it will never finish because its worker was stopped."""
        return not self.preview.is_over and self.preview.created_at < timezone.now() - LOST_AFTER

    @property
    def is_partial(self) -> bool:
        """Return True if the time limit was reached before all turns were tested."""
        return self.preview.is_over and self.preview.turns_done < self.preview.turns_total


def preview_report(preview: RulePreview) -> PreviewReport:
    """Load the examples of a preview (two queries; none while it runs)."""
    if not preview.is_over:
        return PreviewReport(preview, {})
    users = {UUID(each["end_user"]) for each in preview.examples}
    turns = Turn.objects.select_related("end_user").filter(
        end_user_id__in=users, pk__in=[each["turn"] for each in preview.examples]
    )
    ids = [memory for each in preview.examples for memory in each["memories"]]
    memories = {str(row.pk): row for row in Memory.objects.filter(end_user_id__in=users, pk__in=ids)}
    known = {str(turn.pk): turn for turn in turns}
    examples: defaultdict[str, list[PreviewExample]] = defaultdict(list)
    for each in preview.examples:
        if turn := known.get(each["turn"]):
            written = [memories[memory] for memory in each["memories"] if memory in memories]
            example = PreviewExample(turn=turn, before=each["before"], after=each["after"], memories=written)
            examples[each["kind"]].append(example)
    return PreviewReport(preview, {kind: examples[kind] for kind in ("harmful", "dropped", "kept") if examples[kind]})
