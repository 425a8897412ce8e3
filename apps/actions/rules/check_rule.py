"""Check what a rule would have dropped of the latest turns, before it is saved."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.actions.rules.run_preview import TurnChange, compare
from apps.actions.rules.save_rule import with_rule, with_rules
from apps.memories.models import MemoryOrigin
from apps.pipeline.core.enums import Status
from apps.pipeline.core.policy import Rule
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.traces.latest_requests import latest_requests
from apps.traces.policies import active_policy

MOST_TURNS = 1_000
MOST_SHARE = 0.05  # of the turns; a rule that drops more has to be confirmed


@dataclass(frozen=True, slots=True)
class HarmfulDrop:
    """A turn that became active memories and that the rule would drop."""

    change: TurnChange
    memories: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What a rule would have changed for the latest turns."""

    turns: int
    dropped: tuple[TurnChange, ...]  # turns that are kept without the rule
    harmful: tuple[HarmfulDrop, ...]  # those of them that became active memories
    kept: int  # turns that are dropped without the change

    @property
    def share(self) -> float:
        """Return the share of the turns that would be dropped."""
        return len(self.dropped) / self.turns if self.turns else 0.0

    @property
    def needs_confirmation(self) -> bool:
        """Return True if the rule would have dropped what became an active memory, or a large share of the turns."""
        return bool(self.harmful) or self.share > MOST_SHARE


def check_rule(*, project_id: UUID, rule: Rule) -> RuleCheck:
    """Apply the pre-filter to the latest turns, with the rules as they are and with this one (five statements).

    Raises Unfit for a pattern that is invalid, alone or with the other rules.
    """
    now = active_policy(project_id=project_id)
    then = with_rules(now, with_rule(now.pre_filter.rules, rule))
    requests = latest_requests(
        project_id=project_id, most_turns=MOST_TURNS, look_back_characters=EARLIER_TURN_CHARACTERS
    )
    changes = [change for request in requests for change in compare(request, now=now, then=then)]
    dropped = tuple(change for change in changes if change.is_drop)
    return RuleCheck(
        turns=sum(len(request.turns) for request in requests),
        dropped=dropped,
        harmful=_harmful(dropped),
        kept=len(changes) - len(dropped),
    )


def fingerprint(rule: Rule) -> str:
    """Return a text that differs for each rule: a confirmation is about the very rule that was shown."""
    return hashlib.sha256(rule.model_dump_json().encode()).hexdigest()[:32]


def _harmful(dropped: Sequence[TurnChange]) -> tuple[HarmfulDrop, ...]:
    if not dropped:
        return ()
    said = MemoryOrigin.objects.standing().filter(
        end_user_id__in={change.end_user_id for change in dropped},
        turn_id__in=[change.turn_id for change in dropped],
        memory__status=Status.ACTIVE,
    )
    found: dict[UUID, list[UUID]] = {}
    for turn_id, memory_id in said.values_list("turn_id", "memory_id"):
        found.setdefault(turn_id, []).append(memory_id)
    return tuple(HarmfulDrop(change, tuple(found[change.turn_id])) for change in dropped if change.turn_id in found)
