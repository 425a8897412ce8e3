"""Save, check, try and delete pre-filter rules, and count their hits."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from apps.common.errors import NotFound, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import current_person
from apps.memories.models import MemoryOrigin
from apps.outbox.enqueue import queue_task
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
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule, PreviewState, RulePreview, Turn
from apps.traces.policies import active_policy
from apps.traces.requests import count_turns, latest_requests, requests_since


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


MOST_TRIED_TURNS = 1_000
MOST_SHARE = 0.05  # of the turns; a rule that drops more has to be confirmed


@dataclass(frozen=True, slots=True)
class TurnChange:
    """A turn that a rule would treat differently; the reason is empty for a turn that is kept."""

    end_user_id: UUID
    turn_id: UUID
    before: str
    after: str
    memories: Mapping[UUID, str]  # that a newly dropped turn became, with their status

    @property
    def is_drop(self) -> bool:
        """Return True if the rule would drop a turn that is kept today."""
        return not self.before

    @property
    def active_memories(self) -> list[UUID]:
        """Return the memories that a newly dropped turn became and that are active."""
        return [memory for memory, status in self.memories.items() if status == Status.ACTIVE]


@dataclass(frozen=True, slots=True)
class RuleCheck:
    """What a rule would have changed for the latest turns."""

    turns: int
    dropped: tuple[TurnChange, ...]  # turns that are kept without the rule

    @property
    def harmful(self) -> tuple[TurnChange, ...]:
        """Return the dropped turns that became active memories."""
        return tuple(change for change in self.dropped if change.active_memories)

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
    then = with_rule(now, rule)
    requests = latest_requests(
        project_id=project_id, most_turns=MOST_TRIED_TURNS, look_back_characters=EARLIER_TURN_CHARACTERS
    )
    dropped = tuple(change for change in _changes(requests, now=now, then=then) if change.is_drop)
    return RuleCheck(turns=sum(len(request.turns) for request in requests), dropped=dropped)


def fingerprint(rule: Rule) -> str:
    """Return a text that differs for each rule: a confirmation is about the very rule that was shown."""
    return hashlib.sha256(rule.model_dump_json().encode()).hexdigest()[:32]


MOST_DAYS = 90
MOST_TURNS = 100_000  # the latest ones; more would exceed the time limit of a preview
IMMEDIATE_TURNS = 500  # up to this number, the preview is computed while the caller waits
RETENTION = timedelta(days=1)


def request_preview(*, project_id: UUID, rule: Rule, days: int) -> RulePreview:
    """Create a preview and compute it at once for few turns, otherwise in a worker; return it.

    Raises Unfit for an unusable pattern or too many days, NotFound for an unknown project.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Unfit(f"from 1 to {MOST_DAYS} days", at="/days")
    get_or_refuse(Project.objects.filter(pk=project_id), "project")
    with_rule(active_policy(project_id=project_id), rule)
    now = timezone.now()
    total = count_turns(project_id=project_id, since=now - timedelta(days=days), most=MOST_TURNS)
    RulePreview.objects.filter(project_id=project_id, created_at__lt=now - RETENTION).delete()
    preview = RulePreview.objects.create(
        project_id=project_id,
        person_id=current_person(),
        rule=rule.model_dump(mode="json"),
        days=days,
        turns_total=total,
        created_at=now,
    )
    if total <= IMMEDIATE_TURNS:
        run_preview(preview_id=preview.pk)
    else:
        transaction.on_commit(lambda: queue_task("preview_rule", str(preview.pk), group="preview"))
    preview.refresh_from_db()
    return preview


BATCH = 200  # requests between two progress reports
MOST_EXAMPLES = 60  # of each kind
MOST_SECONDS = 90.0  # below the time limit of tasks


_NOT_ACCEPTED = frozenset({Status.PENDING_REVIEW, Status.REJECTED, Status.RETRACTED})
_FOUND = (
    "turns_done",
    "turns_total",
    "newly_dropped",
    "newly_kept",
    "harmful",
    "memories_lost",
    "memories_waiting",
    "memories_rejected",
    "examples",
)


def run_preview(*, preview_id: UUID) -> None:
    """Compute a waiting preview and report the progress; ignore one that is running or has ended."""
    waiting = RulePreview.objects.filter(pk=preview_id, state=PreviewState.WAITING)
    with system_scope(SystemWork.SCHEDULE):
        preview = waiting.first()
    if preview is None:
        return
    with tenant_scope(project_id=preview.project_id):
        if not waiting.update(state=PreviewState.RUNNING):
            return
        try:
            _compute(preview)
        except Unfit as refused:  # the other rules have changed since the preview was requested
            RulePreview.objects.filter(pk=preview.pk).update(state=PreviewState.FAILED, error=str(refused))
            return
        _report(preview, state=PreviewState.DONE, finished_at=timezone.now())


def _compute(preview: RulePreview) -> None:
    """Add what is found to the preview, batch by batch.

    A drop does harm where a memory of the turn was accepted: what waits or was rejected may well be junk.
    """
    now = active_policy(project_id=preview.project_id)
    then = with_rule(now, preview.as_rule())
    deadline = time.monotonic() + MOST_SECONDS
    requests = requests_since(
        project_id=preview.project_id, since=preview.since, look_back_characters=EARLIER_TURN_CHARACTERS
    )
    memories: dict[UUID, str] = {}
    examples: dict[str, list[dict[str, Any]]] = {"harmful": [], "dropped": [], "kept": []}
    while batch := list(islice(requests, BATCH)):
        for change in _changes(batch, now=now, then=then):
            lost = [str(memory) for memory, status in change.memories.items() if status not in _NOT_ACCEPTED]
            kind = "harmful" if lost else "dropped" if change.is_drop else "kept"
            preview.newly_dropped += change.is_drop
            preview.newly_kept += not change.is_drop
            preview.harmful += bool(lost)
            memories |= change.memories
            if len(examples[kind]) < MOST_EXAMPLES:
                turn = {"end_user": str(change.end_user_id), "turn": str(change.turn_id)}
                reasons = {"before": change.before, "after": change.after}
                examples[kind].append({"kind": kind, **turn, **reasons, "memories": lost})
        by_status = Counter(memories.values())
        preview.memories_waiting = by_status[Status.PENDING_REVIEW]
        preview.memories_rejected = by_status[Status.REJECTED] + by_status[Status.RETRACTED]
        preview.memories_lost = len(memories) - preview.memories_waiting - preview.memories_rejected
        preview.examples = [each for some in examples.values() for each in some]
        preview.turns_done += sum(len(request.turns) for request in batch)
        preview.turns_total = max(preview.turns_total, preview.turns_done)  # the last batch may exceed the limit
        _report(preview)
        if preview.turns_done >= preview.turns_total or time.monotonic() > deadline:
            break


def _report(preview: RulePreview, **more: Any) -> None:
    """Write what was found so far, unless the preview is gone."""
    found = {name: getattr(preview, name) for name in _FOUND}
    RulePreview.objects.filter(pk=preview.pk).update(**found, **more)


def _changes(requests: Iterable[Request], *, now: Policy, then: Policy) -> list[TurnChange]:
    """Return the turns that one policy drops and the other keeps, with the memories of those newly dropped."""
    changes = []
    for request in requests:
        before, after, end_user = _dropped(request, now), _dropped(request, then), request.origin.end_user_id
        changed = [turn.id for turn in request.turns if (turn.id in before) != (turn.id in after)]
        changes += [TurnChange(end_user, turn, before.get(turn, ""), after.get(turn, ""), {}) for turn in changed]
    dropped = [change for change in changes if change.is_drop]
    if not dropped:
        return changes
    memories: dict[UUID, dict[UUID, str]] = {}  # with their status, by turn
    users, turns = {change.end_user_id for change in dropped}, [change.turn_id for change in dropped]
    origins = MemoryOrigin.objects.standing().filter(end_user_id__in=users, turn_id__in=turns)
    for turn_id, memory_id, status in origins.values_list("turn_id", "memory_id", "memory__status"):
        memories.setdefault(turn_id, {})[memory_id] = status
    return [replace(change, memories=memories.get(change.turn_id, {})) for change in changes]


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
