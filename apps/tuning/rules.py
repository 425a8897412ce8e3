"""Save, check, try and delete pre-filter rules, and count their hits."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from apps.common.errors import NotFound, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.models import MemoryOrigin
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Drop, Origin, Request
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Policy, Rule
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.pipeline.prefilter.matcher import rule_books
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.projects.services import add_version, configure
from apps.tenants.models import Project
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule, Turn
from apps.traces.policies import active_policy
from apps.traces.requests import latest_requests


def save_rule(*, project_id: UUID, rule: Rule, as_draft: bool = False, done: str = "saved") -> ConfigurationVersion:
    """Replace the rule of the same name, or add the rule, in a new version: active, or a draft.

    `done` is what the note of the version says of the rule.
    Raises Unfit for a pattern that is invalid, alone or with the others; NotFound for an unknown project.
    """
    return _change(project_id, lambda policy: with_rule(policy, rule), f"rule {rule.name} {done}", as_draft=as_draft)


def delete_rule(*, project_id: UUID, name: str) -> ConfigurationVersion:
    """Create a new active version without a rule. Raises NotFound."""

    def without(policy: Policy) -> Policy:
        others = tuple(each for each in policy.pre_filter.rules if each.name != name)
        if len(others) == len(policy.pre_filter.rules):
            raise NotFound("there is no such rule")
        return _with_rules(policy, others)

    return _change(project_id, without, f"rule {name} deleted")


def with_rule(policy: Policy, rule: Rule) -> Policy:
    """Return a policy in which a rule replaces that of the same name or is added.

    Raises Unfit for a pattern that is invalid, alone or with the other rules.
    """
    try:
        check_pattern(rule.pattern)
    except PatternRefused as refused:
        raise Unfit(str(refused), at="/pattern") from refused
    return _with_rules(policy, (*(each for each in policy.pre_filter.rules if each.name != rule.name), rule))


def _with_rules(policy: Policy, rules: tuple[Rule, ...]) -> Policy:
    changed = policy.pre_filter.model_copy(update={"rules": rules})
    try:
        rule_books(changed)
    except PatternRefused as refused:
        raise Unfit(str(refused), at="/pattern") from refused
    return policy.model_copy(update={"pre_filter": changed})


def _change(
    project_id: UUID, change: Callable[[Policy], Policy], note: str, *, as_draft: bool = False
) -> ConfigurationVersion:
    """Make a version from the active one; the project is locked, so that no concurrent change is lost."""
    with transaction.atomic():
        get_or_refuse(Project.objects.select_for_update().filter(id=project_id), "project")
        active = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
        policy = change(active.as_policy())
        if as_draft:
            return add_version(project_id=project_id, policy=policy, note=note, base=active.number)
        return configure(project_id=project_id, policy=policy, note=note)


def try_turn(*, project_id: UUID, content: str, role: Role, before: str = "", rule: Rule | None = None) -> Drop | None:
    """Return why the active rules would drop a turn, or None; `before` is what the assistant said before it.

    Raises Unfit for an invalid rule.
    """
    policy = active_policy(project_id=project_id)
    if rule is not None:
        policy = with_rule(policy, rule)
    origin = Origin(project_id=project_id, end_user_id=new_id(), session_id=new_id())
    request = request_of(origin, content, role, before=before, now=timezone.now())
    drops = flow.screen(Draft.start(request=request, policy=policy)).drops
    return drops[0] if drops else None


def request_of(origin: Origin, content: str, role: Role, *, before: str, now: datetime) -> Request:
    """Return a request with one turn, and with what the assistant said before it, if anything."""
    earlier = SourceTurn(id=new_id(), position=0, role=Role.ASSISTANT, content=before, received_at=now)
    said = SourceTurn(id=new_id(), position=1, role=role, content=content, received_at=now)
    return Request(new_id(), origin, (said,), earlier_turns=(earlier,) if before.strip() else ())


CHECKED_TURNS = 1_000  # on which a rule is tried before it is saved
PREVIEWED_TURNS = 10_000  # the latest ones; more would take longer than a person waits
MOST_DAYS = 90
MOST_SHARE = 0.05  # of the turns; a rule that drops more has to be confirmed
_NOT_ACCEPTED = frozenset({Status.PENDING_REVIEW, Status.REJECTED, Status.RETRACTED})


@dataclass(frozen=True, slots=True)
class TurnChange:
    """A turn that a rule would treat differently."""

    end_user_id: UUID
    turn_id: UUID
    before: str  # why it is dropped without the rule; empty for a turn that is kept
    memories: Mapping[UUID, str]  # that a newly dropped turn became, with their status

    @property
    def lost(self) -> list[UUID]:
        """Return the accepted memories: what waits for review or was rejected may well be junk."""
        return [memory for memory, status in self.memories.items() if status not in _NOT_ACCEPTED]


@dataclass(frozen=True, slots=True)
class RuleTrial:
    """What a rule would have changed for some turns, harmful drops first."""

    turns: int
    changes: tuple[TurnChange, ...]

    @property
    def dropped(self) -> list[TurnChange]:
        """Return the turns that are kept without the rule."""
        return [change for change in self.changes if not change.before]

    @property
    def kept(self) -> list[TurnChange]:
        """Return the turns that are dropped without the rule."""
        return [change for change in self.changes if change.before]

    @property
    def harmful(self) -> list[TurnChange]:
        """Return the newly dropped turns of which a memory was accepted."""
        return [change for change in self.dropped if change.lost]

    @property
    def memories(self) -> dict[str, int]:
        """Count the memories of newly dropped turns: `accepted`, and those in other statuses."""
        statuses = Counter({key: value for change in self.changes for key, value in change.memories.items()}.values())
        rejected = statuses[Status.REJECTED] + statuses[Status.RETRACTED]
        waiting = statuses[Status.PENDING_REVIEW]
        return {"accepted": statuses.total() - rejected - waiting, "waiting": waiting, "rejected": rejected}

    @property
    def share(self) -> float:
        """Return the share of the turns that would be dropped."""
        return len(self.dropped) / self.turns if self.turns else 0.0

    @property
    def needs_confirmation(self) -> bool:
        """Return True if the rule would have dropped what became a memory, or a large share of the turns."""
        return bool(self.harmful) or self.share > MOST_SHARE


def try_rule(*, project_id: UUID, rule: Rule, days: int | None = None) -> RuleTrial:
    """Apply the pre-filter to the latest turns, or to those of some days, with the rules as they are and with this one.

    Nothing is written. Raises Unfit for too many days and for a pattern that is invalid, alone or with the other rules.
    """
    if days is not None and not 1 <= days <= MOST_DAYS:
        raise Unfit(f"from 1 to {MOST_DAYS} days", at="/days")
    now = active_policy(project_id=project_id)
    then = with_rule(now, rule)
    requests = latest_requests(
        project_id=project_id,
        most_turns=PREVIEWED_TURNS if days else CHECKED_TURNS,
        look_back_characters=EARLIER_TURN_CHARACTERS,
        since=timezone.now() - timedelta(days=days) if days else None,
    )
    changes = []
    for request in requests:
        before, after = _dropped(request, now), _dropped(request, then)
        changed = [turn.id for turn in request.turns if (turn.id in before) != (turn.id in after)]
        user = request.origin.end_user_id
        changes += [TurnChange(user, turn, before.get(turn, ""), {}) for turn in changed]
    dropped = [change for change in changes if not change.before]
    memories: dict[UUID, dict[UUID, str]] = {}  # with their status, by turn
    users, turns = {change.end_user_id for change in dropped}, [change.turn_id for change in dropped]
    origins = MemoryOrigin.objects.standing().filter(end_user_id__in=users, turn_id__in=turns)
    for turn_id, memory_id, status in origins.values_list("turn_id", "memory_id", "memory__status"):
        memories.setdefault(turn_id, {})[memory_id] = status
    found = [replace(change, memories=memories.get(change.turn_id, {})) for change in changes]
    found.sort(key=lambda change: not change.lost)
    return RuleTrial(sum(len(request.turns) for request in requests), tuple(found))


def fingerprint(rule: Rule) -> str:
    """Return a text that differs for each rule: a confirmation is about the very rule that was shown."""
    return hashlib.sha256(rule.model_dump_json().encode()).hexdigest()[:32]


def _dropped(request: Request, policy: Policy) -> dict[UUID | None, str]:
    """Return the reasons of the turns that the pre-filter drops, by turn."""
    screened = flow.screen(Draft.start(request=request, policy=policy))
    return {drop.turn_id: drop.reason for drop in screened.drops}


COUNTED_AT_ONCE = 5_000  # turns per statement, so that no statement runs long after a busy hour


def count_rule_hits() -> int:
    """Add each dropped turn to its rule's count exactly once; return how many turns were counted.

    Turns that another process is counting are left to it. Hits that were not counted before their rule was renamed or
    deleted are lost.
    """
    counted = 0
    while True:
        with system_scope(SystemWork.SCHEDULE), transaction.atomic():
            dropped = Turn.objects.filter(hit_counted=False).exclude(rejected_by="").order_by("received_at")
            fresh = dropped.select_for_update(no_key=True, skip_locked=True, of=("self",))
            rows = list(fresh.values_list("id", "end_user__project_id", "rejected_by", "received_at")[:COUNTED_AT_ONCE])
            hits: dict[tuple[UUID, str], list[datetime]] = {}
            for _, project_id, rule, received_at in rows:
                hits.setdefault((project_id, rule), []).append(received_at)
            Turn.objects.filter(id__in=[turn_id for turn_id, *_ in rows]).update(hit_counted=True)
            for (project_id, rule), moments in sorted(hits.items()):
                PreFilterRule.objects.filter(project_id=project_id, name=rule).update(
                    hit_count=F("hit_count") + len(moments), last_hit_at=Greatest("last_hit_at", Value(max(moments)))
                )
        if not rows:
            return counted
        counted += len(rows)
