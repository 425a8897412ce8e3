"""Turns, and the reasons for which the pre-filter drops them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Role
from apps.pipeline.core.policy import Policy, PreFilterPolicy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter import pre_filter
from apps.pipeline.prefilter.default_rules import default_rules

RECEIVED = datetime(2025, 3, 1, 9, 0, tzinfo=UTC)
ORIGIN = Origin(project_id=UUID(int=1), end_user_id=UUID(int=2), session_id=UUID(int=3))
SHIPPED = PreFilterPolicy(rules=default_rules())


def turn(place: int, content: str, role: Role = Role.USER, **fields: str) -> SourceTurn:
    return SourceTurn(
        id=UUID(int=100 + place), position=place, role=role, content=content, received_at=RECEIVED, **fields
    )


def judged(turns: Sequence[SourceTurn], earlier: Sequence[SourceTurn] = (), policy: PreFilterPolicy = SHIPPED) -> Draft:
    request = Request(trace_id=UUID(int=4), origin=ORIGIN, turns=tuple(turns), earlier_turns=tuple(earlier))
    return pre_filter.run(Draft.start(request=request, policy=Policy(pre_filter=policy)))


def reason(content: str, *, after: str = "", policy: PreFilterPolicy = SHIPPED) -> str | None:
    earlier = [turn(0, after, Role.ASSISTANT)] if after else []
    drops = judged([turn(1, content)], earlier, policy).drops
    return drops[0].reason if drops else None
