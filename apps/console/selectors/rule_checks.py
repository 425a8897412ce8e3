"""What the check of a rule found, with the turns and memories that it is about."""

from dataclasses import dataclass

from apps.actions.rules import RuleCheck
from apps.memories.models import Memory
from apps.traces.models import Turn

MOST_EXAMPLES = 12


@dataclass(frozen=True, slots=True)
class DroppedExample:
    """A turn that the rule would drop, and the active memories that it became."""

    turn: Turn
    memories: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check with examples, those with memories first."""

    check: RuleCheck
    examples: tuple[DroppedExample, ...]


def check_report(check: RuleCheck) -> CheckReport:
    """Load the examples of a check (two queries)."""
    harmful = {each.change.turn_id: each.memories for each in check.harmful}
    changes = [each.change for each in check.harmful]
    changes += [change for change in check.dropped if change.turn_id not in harmful]
    shown = changes[:MOST_EXAMPLES]
    users = {change.end_user_id for change in shown}
    rows = Turn.objects.select_related("end_user").filter(end_user_id__in=users)
    turns = {turn.pk: turn for turn in rows.filter(pk__in=[change.turn_id for change in shown])}
    ids = [memory for change in shown for memory in harmful.get(change.turn_id, ())]
    memories = {row.pk: row for row in Memory.objects.filter(end_user_id__in=users, pk__in=ids)}
    examples = []
    for change in shown:
        if change.turn_id in turns:
            lost = tuple(memories[each] for each in harmful.get(change.turn_id, ()) if each in memories)
            examples.append(DroppedExample(turns[change.turn_id], lost))
    return CheckReport(check, tuple(examples))
