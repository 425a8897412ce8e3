"""Compute the preview of a rule: apply the pre-filter to stored turns, without and with the rule."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from django.utils import timezone

from apps.actions.errors import Unfit
from apps.actions.rules.save_rule import with_rule, with_rules
from apps.memories.models import MemoryOrigin
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.policy import Policy
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import PreviewState, RulePreview
from apps.traces.policies import active_policy
from apps.traces.requests import requests_since

BATCH = 200  # requests between two progress reports
MOST_EXAMPLES = 60  # of each kind
MOST_SECONDS = 90.0  # below the time limit of tasks


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


@dataclass(slots=True)
class Findings:
    """The results so far."""

    turns: int = 0
    dropped: int = 0
    kept: int = 0
    harmful: int = 0
    memories: set[UUID] = field(default_factory=set)
    examples: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {"harmful": [], "dropped": [], "kept": []}
    )

    def add(self, change: TurnChange, memories: Sequence[UUID]) -> None:
        """Count a change, and add it to the examples while there are few."""
        kind = "harmful" if memories else "dropped" if change.is_drop else "kept"
        self.dropped += change.is_drop
        self.kept += not change.is_drop
        self.harmful += bool(memories)
        self.memories.update(memories)
        if len(self.examples[kind]) < MOST_EXAMPLES:
            example = {
                "kind": kind,
                "end_user": str(change.end_user_id),
                "turn": str(change.turn_id),
                "before": change.before,
                "after": change.after,
                "memories": [str(memory) for memory in memories],
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
            findings.add(change, memories.get(change.turn_id, ()))
        findings.turns += sum(len(request.turns) for request in batch)
        _report(preview, findings)
        if findings.turns >= preview.turns_total or time.monotonic() > deadline:
            break
    return findings


def _dropped(request: Request, policy: Policy) -> dict[UUID | None, str]:
    """Return the reasons of the turns that the pre-filter drops, by turn."""
    screened = flow.screen(Draft.start(request=request, policy=policy))
    return {drop.turn_id: drop.reason for drop in screened.drops}


def _memories_of(changes: Sequence[TurnChange]) -> dict[UUID, list[UUID]]:
    """Return the memories that come from newly dropped turns, by turn."""
    dropped = [change for change in changes if change.is_drop]
    if not dropped:
        return {}
    origins = MemoryOrigin.objects.standing().filter(
        end_user_id__in={change.end_user_id for change in dropped}, turn_id__in=[change.turn_id for change in dropped]
    )
    found: dict[UUID, list[UUID]] = {}
    for turn_id, memory_id in origins.values_list("turn_id", "memory_id"):
        found.setdefault(turn_id, []).append(memory_id)
    return found


def _report(preview: RulePreview, findings: Findings, **more: Any) -> None:
    RulePreview.objects.filter(pk=preview.pk).update(
        turns_done=findings.turns,
        turns_total=max(preview.turns_total, findings.turns),  # the last batch may exceed the limit
        newly_dropped=findings.dropped,
        newly_kept=findings.kept,
        harmful=findings.harmful,
        memories_lost=len(findings.memories),
        examples=[each for examples in findings.examples.values() for each in examples],
        **more,
    )
