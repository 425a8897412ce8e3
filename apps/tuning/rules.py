"""Save, check, try and delete pre-filter rules, and count their hits."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest
from django.utils import timezone

from apps.common.errors import NotFound, Unfit
from apps.memories.models import MemoryOrigin
from apps.outbox.enqueue import queue_task
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Role, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Policy, Rule
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.pipeline.prefilter.matcher import matcher_for
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.projects.services import add_version, configure
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule, PreviewState, RulePreview, Turn
from apps.traces.policies import active_policy
from apps.traces.requests import count_turns, latest_requests, requests_since

Rules = tuple[Rule, ...]


def save_rule(*, project_id: UUID, rule: Rule) -> ConfigurationVersion:
    """Replace the rule of the same name, or add the rule, in a new active version.

    Raises Unfit for a pattern that is invalid, alone or with the others; NotFound for an unknown project.
    """
    return change_rules(
        project_id=project_id,
        change=lambda rules: with_rule(rules, rule),
        note=f"rule {rule.name} saved",
    )


def draft_rule(*, project_id: UUID, rule: Rule) -> ConfigurationVersion:
    """Replace or add the rule in a draft that is made from the active version. Raises what save_rule raises."""
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(id=project_id).exists():
            raise NotFound("there is no such project")
        active = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
        policy = active.as_policy()
        changed = with_rules(policy, with_rule(policy.pre_filter.rules, rule))
        note = f"rule {rule.name} saved"
        return add_version(project_id=project_id, policy=changed, note=note, base=active.number)


def with_rule(rules: Rules, rule: Rule) -> Rules:
    """Return rules in which one replaces that of the same name or is added. Raises Unfit for an invalid pattern."""
    try:
        check_pattern(rule.pattern)
    except PatternRefused as refused:
        raise Unfit(str(refused), at="/pattern") from refused
    return (*(each for each in rules if each.name != rule.name), rule)


def change_rules(*, project_id: UUID, change: Callable[[Rules], Rules], note: str) -> ConfigurationVersion:
    """Create a new active version with other rules; the project is locked, so that no concurrent change is lost.

    Raises Unfit for rules that don't compile together, NotFound for an unknown project.
    """
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(id=project_id).exists():
            raise NotFound("there is no such project")
        policy = active_policy(project_id=project_id)
        changed = with_rules(policy, change(policy.pre_filter.rules))
        return configure(project_id=project_id, policy=changed, note=note)


def with_rules(policy: Policy, rules: Rules) -> Policy:
    """Return a policy with other rules. Raises Unfit for rules that don't compile together."""
    changed = policy.pre_filter.model_copy(update={"rules": rules})
    try:
        matcher_for(changed)
    except PatternRefused as refused:
        raise Unfit(str(refused), at="/pattern") from refused
    return policy.model_copy(update={"pre_filter": changed})


def delete_rule(*, project_id: UUID, name: str) -> ConfigurationVersion:
    """Create a new active version without a rule. Raises NotFound."""

    def without(rules: Rules) -> Rules:
        others = tuple(each for each in rules if each.name != name)
        if len(others) == len(rules):
            raise NotFound("there is no such rule")
        return others

    return change_rules(project_id=project_id, change=without, note=f"rule {name} deleted")


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


MOST_TRIED_TURNS = 1_000
MOST_SHARE = 0.05  # of the turns; a rule that drops more has to be confirmed


@dataclass(frozen=True, slots=True)
class TurnChange:
    """A turn that the rule would treat differently; the reason is empty for a turn that is kept."""

    end_user_id: UUID
    turn_id: UUID
    before: str
    after: str

    @property
    def is_drop(self) -> bool:
        """Return True if the rule would drop a turn that is kept today."""
        return not self.before


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
        project_id=project_id, most_turns=MOST_TRIED_TURNS, look_back_characters=EARLIER_TURN_CHARACTERS
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


MOST_DAYS = 90
MOST_TURNS = 100_000  # the latest ones; more would exceed the time limit of a preview
IMMEDIATE_TURNS = 500  # up to this number, the preview is computed while the caller waits
RETENTION = timedelta(days=1)


def request_preview(*, project_id: UUID, rule: Rule, days: int, person_id: int | None = None) -> RulePreview:
    """Create a preview and compute it at once for few turns, otherwise in a worker; return it.

    Raises Unfit for an unusable pattern or too many days, NotFound for an unknown project.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Unfit(f"from 1 to {MOST_DAYS} days", at="/days")
    if not Project.objects.filter(pk=project_id).exists():
        raise NotFound("there is no such project")
    policy = active_policy(project_id=project_id)
    with_rules(policy, with_rule(policy.pre_filter.rules, rule))
    now = timezone.now()
    total = count_turns(project_id=project_id, since=now - timedelta(days=days), most=MOST_TURNS)
    RulePreview.objects.filter(project_id=project_id, created_at__lt=now - RETENTION).delete()
    preview = RulePreview.objects.create(
        project_id=project_id,
        person_id=person_id,
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


@dataclass(slots=True)
class Findings:
    """The results so far."""

    turns: int = 0
    dropped: int = 0
    kept: int = 0
    harmful: int = 0
    memories: dict[UUID, str] = field(default_factory=dict)  # with their status
    examples: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"harmful": [], "dropped": [], "kept": []}
    )

    def add(self, change: TurnChange, memories: Mapping[UUID, str]) -> None:
        """Count a change, and add it to the examples while there are few.

        A drop does harm where a memory of the turn was accepted: what waits or was rejected may well be junk.
        """
        lost = [memory for memory, status in memories.items() if status not in _NOT_ACCEPTED]
        kind = "harmful" if lost else "dropped" if change.is_drop else "kept"
        self.dropped += change.is_drop
        self.kept += not change.is_drop
        self.harmful += bool(lost)
        self.memories.update(memories)
        if len(self.examples[kind]) < MOST_EXAMPLES:
            example = {
                "kind": kind,
                "end_user": str(change.end_user_id),
                "turn": str(change.turn_id),
                "before": change.before,
                "after": change.after,
                "memories": [str(memory) for memory in lost],
            }
            self.examples[kind].append(example)


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
            findings = _compute(preview)
        except Unfit as refused:  # the other rules have changed since the preview was requested
            RulePreview.objects.filter(pk=preview.pk).update(state=PreviewState.FAILED, error=str(refused))
            return
        _report(preview, findings, state=PreviewState.DONE, finished_at=timezone.now())


def compare(request: Request, *, now: Policy, then: Policy) -> list[TurnChange]:
    """Return the turns of a request that one policy drops and the other keeps."""
    before, after = _dropped(request, now), _dropped(request, then)
    changed = [turn.id for turn in request.turns if (turn.id in before) != (turn.id in after)]
    end_user = request.origin.end_user_id
    return [TurnChange(end_user, turn, before.get(turn, ""), after.get(turn, "")) for turn in changed]


def _compute(preview: RulePreview) -> Findings:
    now = active_policy(project_id=preview.project_id)
    then = with_rules(now, with_rule(now.pre_filter.rules, preview.as_rule()))
    findings, deadline = Findings(), time.monotonic() + MOST_SECONDS
    requests = requests_since(
        project_id=preview.project_id, since=preview.since, look_back_characters=EARLIER_TURN_CHARACTERS
    )
    while batch := list(islice(requests, BATCH)):
        changes = [change for request in batch for change in compare(request, now=now, then=then)]
        memories = _memories_of(changes)
        for change in changes:
            findings.add(change, memories.get(change.turn_id, {}))
        findings.turns += sum(len(request.turns) for request in batch)
        _report(preview, findings)
        if findings.turns >= preview.turns_total or time.monotonic() > deadline:
            break
    return findings


def _dropped(request: Request, policy: Policy) -> dict[UUID | None, str]:
    """Return the reasons of the turns that the pre-filter drops, by turn."""
    screened = flow.screen(Draft.start(request=request, policy=policy))
    return {drop.turn_id: drop.reason for drop in screened.drops}


def _memories_of(changes: Sequence[TurnChange]) -> dict[UUID, dict[UUID, str]]:
    """Return the memories that come from newly dropped turns with their status, by turn."""
    dropped = [change for change in changes if change.is_drop]
    if not dropped:
        return {}
    origins = MemoryOrigin.objects.standing().filter(
        end_user_id__in={change.end_user_id for change in dropped}, turn_id__in=[change.turn_id for change in dropped]
    )
    found: dict[UUID, dict[UUID, str]] = {}
    for turn_id, memory_id, status in origins.values_list("turn_id", "memory_id", "memory__status"):
        found.setdefault(turn_id, {})[memory_id] = status
    return found


def _report(preview: RulePreview, findings: Findings, **more: Any) -> None:
    by_status = Counter(findings.memories.values())
    waiting, rejected = by_status[Status.PENDING_REVIEW], by_status[Status.REJECTED] + by_status[Status.RETRACTED]
    RulePreview.objects.filter(pk=preview.pk).update(
        turns_done=findings.turns,
        turns_total=max(preview.turns_total, findings.turns),  # the last batch may exceed the limit
        newly_dropped=findings.dropped,
        newly_kept=findings.kept,
        harmful=findings.harmful,
        memories_lost=len(findings.memories) - waiting - rejected,
        memories_waiting=waiting,
        memories_rejected=rejected,
        examples=[each for examples in findings.examples.values() for each in examples],
        **more,
    )


COUNTED_AT_ONCE = 5_000  # turns per statement, so that no statement runs long after a busy hour


def count_rule_hits() -> int:
    """Add each dropped turn to its rule's count exactly once; return how many turns were counted.

    Hits that were not counted before their rule was renamed or deleted are lost.
    """
    counted = 0
    while marked := _count_some():
        counted += marked
    return counted


def _count_some() -> int:
    """Mark and count up to COUNTED_AT_ONCE turns; those that another process is counting are left to it."""
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
    return len(rows)
