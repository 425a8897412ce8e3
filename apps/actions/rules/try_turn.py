"""Apply the pre-filter to one turn, optionally with a rule that is not saved yet; nothing is written."""

from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from apps.actions.rules.save_rule import with_rule, with_rules
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Role
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Rule
from apps.pipeline.core.turn import SourceTurn
from apps.traces.policies import active_policy


@dataclass(frozen=True, slots=True)
class Trial:
    """The result: `reason` is empty if the turn passes; `rule` and `matched` are set if a rule decided."""

    reason: str = ""
    rule: str = ""
    matched: str = ""


def try_turn(*, project_id: UUID, content: str, role: Role, before: str = "", rule: Rule | None = None) -> Trial:
    """Apply the active rules to a turn; `before` is what the assistant said before it.

    Raises Unfit for an invalid rule.
    """
    policy = active_policy(project_id=project_id)
    if rule is not None:
        policy = with_rules(policy, with_rule(policy.pre_filter.rules, rule))
    earlier = (_turn(before, Role.ASSISTANT, position=0),) if before.strip() else ()
    request = Request(
        trace_id=new_id(),
        origin=Origin(project_id=project_id, end_user_id=new_id(), session_id=new_id()),
        turns=(_turn(content, role, position=1),),
        earlier_turns=earlier,
    )
    drops = flow.screen(Draft.start(request=request, policy=policy)).drops
    if not drops:
        return Trial()
    detail = drops[0].detail
    return Trial(reason=drops[0].reason, rule=detail.get("rule", ""), matched=detail.get("matched", ""))


def _turn(content: str, role: Role, *, position: int) -> SourceTurn:
    return SourceTurn(id=new_id(), position=position, role=role, content=content, received_at=timezone.now())
