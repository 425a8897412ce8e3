"""Decisions about memories and pairs: approve, reject, reword, merge, settle, comment, undo."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Refused, Unfit
from apps.memories.ledger.record import record
from apps.memories.models import Memory, MemoryComment, MemoryLink
from apps.memories.services.lifecycle import ENDED
from apps.memories.services.revising import Revision, apply_revision, find_memory, retract, revise
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkResolution, LinkStatus, RejectionReason, Status
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.core.operations import Operation, ReviseMemory, SetLinkStatus
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.redaction.redact import redact
from apps.pipeline.review.decisions import (
    Merge,
    ReviewContext,
    Settle,
    Validity,
    is_asserted,
    newer_first,
    operations_of,
)
from apps.review.context import context_to_decide
from apps.traces.get_or_create import actor_of, hold_end_user
from apps.traces.policies import active_policy

APPROVALS = frozenset({"approved", "kept", "took_over"})  # operations by which a person says that a memory is true


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A memory in the version that a person had on the screen, or that a decision left behind."""

    memory_id: UUID
    version: int

    def __str__(self) -> str:
        return f"{self.memory_id}:{self.version}"

    def next(self) -> "SeenVersion":
        """Return the same memory one change later."""
        return SeenVersion(self.memory_id, self.version + 1)


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who decides, in which project: a person in the console, or the holder of an API key."""

    project_id: UUID
    person_id: int | None = None
    api_key_id: UUID | None = None

    @property
    def actor(self) -> str:
        """Return who decides, as history and ledger record it."""
        return actor_of(self.api_key_id, self.person_id)


@dataclass(frozen=True, slots=True)
class DecisionRefusal:
    """A memory about which nothing was decided, with the reason."""

    memory_id: UUID
    why: Refused


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """What a decision left behind: enough to undo it."""

    memories: tuple[SeenVersion, ...] = ()
    link_id: UUID | None = None
    refused: tuple[DecisionRefusal, ...] = ()

    @property
    def versions(self) -> str:
        """Return the memories as a form sends them: a single value, since a form has at most 1,000."""
        return " ".join(map(str, self.memories))


def decide_each(*, seen: Sequence[SeenVersion], decide: Callable[[SeenVersion], None]) -> ReviewDecision:
    """Decide about memories one by one; one that can't be decided holds up no other."""
    done: list[SeenVersion] = []
    refused: list[DecisionRefusal] = []
    for each in seen:
        try:
            decide(each)
            done.append(each.next())
        except Refused as why:
            refused.append(DecisionRefusal(each.memory_id, why))
    return ReviewDecision(memories=tuple(done), refused=tuple(refused))


def find_seen(*, by: Reviewer, seen: SeenVersion) -> Memory:
    """Return a memory as it was seen. Raises NotFound, Conflict when it has changed since."""
    memory = find_memory(project_id=by.project_id, memory_id=seen.memory_id)
    if memory.version != seen.version:
        raise Conflict("somebody else has changed the memory meanwhile")
    return memory


def check_pair(one: Memory, other: Memory) -> None:
    """Raise NotFound for memories of two end users, Conflict if one isn't live or they are private to two agents."""
    if one.end_user_id != other.end_user_id or one.pk == other.pk:
        raise NotFound("there are no such two memories of one user")
    for memory in (one, other):
        if memory.status not in LIVE_STATUSES:
            raise Conflict(f"the memory is {memory.status} meanwhile")
    if one.private_to != other.private_to:
        raise Conflict("the memories are private to different agents")


def apply_decision(*, by: Reviewer, end_user_id: UUID, operations: Sequence[Operation]) -> None:
    """Apply a person's operations on what is kept of one end user. Raises Conflict if somebody was faster."""
    context = WriteContext(project_id=by.project_id, end_user_id=end_user_id, actor=by.actor)
    try:
        with transaction.atomic():
            apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)
    except StalePlan as stale:
        raise Conflict("somebody else was faster") from stale


class StatusChange(StrEnum):
    """What a person does with memories."""

    RETRACT = "retract"  # it should not be known
    ARCHIVE = "archive"  # it is not needed now
    RESTORE = "restore"  # archived ones become active, rejected and retracted ones wait for review again


# The status after a change by the status before it; what is missing is refused.
_AFTER: Mapping[StatusChange, Mapping[Status, Status]] = {
    StatusChange.RETRACT: {each: Status.RETRACTED for each in Status if each is not Status.RETRACTED},
    StatusChange.ARCHIVE: {Status.ACTIVE: Status.ARCHIVED},
    StatusChange.RESTORE: {
        Status.ARCHIVED: Status.ACTIVE,
        Status.REJECTED: Status.PENDING_REVIEW,
        Status.RETRACTED: Status.PENDING_REVIEW,
    },
}


def possible_changes(status: Status) -> tuple[StatusChange, ...]:
    """Return what can be done with a memory of this status."""
    return tuple(change for change in StatusChange if status in _AFTER[change])


def change_status(*, by: Reviewer, seen: Sequence[SeenVersion], change: StatusChange) -> ReviewDecision:
    """Change the status of memories, each in the version that was seen; one that can't be changed holds up no other."""
    return decide_each(seen=seen, decide=lambda each: _change_one(by, each, change))


def _change_one(by: Reviewer, seen: SeenVersion, change: StatusChange) -> None:
    memory = find_seen(by=by, seen=seen)
    before = Status(memory.status)
    after = _AFTER[change].get(before)
    if after is None:
        raise Unfit(f"a memory that is {before.replace('_', ' ')} can't be {_DONE[change]}")
    if after is Status.RETRACTED:
        retract(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            actor=by.actor,
            expected_version=seen.version,
        )
        return
    revise(
        revision=Revision(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            changes={"status": after},
            actor=by.actor,
            expected_version=seen.version,
            may_review=True,
            restores=change is StatusChange.RESTORE,
        )
    )


_DONE = {StatusChange.RETRACT: "retracted", StatusChange.ARCHIVE: "archived", StatusChange.RESTORE: "restored"}


def approve(
    *,
    by: Reviewer,
    seen: Sequence[SeenVersion],
    content: str | None = None,
    value: str | None = None,
    replaces: Sequence[SeenVersion] = (),
    is_confirmed: bool = False,
    as_uncertain: bool = False,
) -> ReviewDecision:
    """Make memories that wait for review active; the approval raises their confidence.

    Only for a single memory: another wording (`content`), another object (`value`, empty for none), the memories of
    the same end user that are no longer true (`replaces`), and what the user did not say as a fact: it is refused
    unless the person has confirmed that the user means it, or keeps it as uncertain.
    """
    changes: dict[str, Any] = {"status": Status.ACTIVE}
    if len(seen) != 1:
        return decide_each(seen=seen, decide=lambda each: _approve(by, each, changes))
    if content is not None:
        changes["content"] = content
    if value is not None:
        changes["value"] = value
    return decide_each(
        seen=seen,
        decide=lambda each: _approve(
            by, each, changes, replaces, is_confirmed=is_confirmed or "content" in changes, as_uncertain=as_uncertain
        ),
    )


def _approve(
    by: Reviewer,
    seen: SeenVersion,
    changes: Mapping[str, Any],
    replaces: Sequence[SeenVersion] = (),
    *,
    is_confirmed: bool = False,
    as_uncertain: bool = False,
) -> None:
    if not is_confirmed and not as_uncertain and not is_asserted(find_seen(by=by, seen=seen)):
        raise Unfit("the user did not say this as a fact: decide about it alone")
    revise(
        revision=Revision(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            changes=changes,
            actor=by.actor,
            expected_version=seen.version,
            may_review=True,
            replaces=frozenset(find_seen(by=by, seen=each).pk for each in replaces),
            as_uncertain=as_uncertain,
        )
    )


def reject(*, by: Reviewer, seen: Sequence[SeenVersion], reason: RejectionReason) -> ReviewDecision:
    """Reject memories that wait for review; the reason is recorded in the ledger."""

    def reject_one(each: SeenVersion) -> None:
        revise(
            revision=Revision(
                project_id=by.project_id,
                memory_id=each.memory_id,
                changes={"status": Status.REJECTED},
                actor=by.actor,
                expected_version=each.version,
                may_review=True,
                note=reason,
            )
        )

    return decide_each(seen=seen, decide=reject_one)


def merge_memories(*, by: Reviewer, seen: SeenVersion, into: SeenVersion) -> ReviewDecision:
    """Give the origins of a memory to another one of the same end user, which is approved.

    Origins of another day raise its confidence. Raises NotFound, and Conflict if either has changed since it was seen
    or is no longer live.
    """
    memory, successor = find_seen(by=by, seen=seen), find_seen(by=by, seen=into)
    check_pair(memory, successor)
    with transaction.atomic():
        hold_end_user(memory.end_user_id)
        context = context_to_decide([memory, successor])
        operations = operations_of(Merge(memory_id=memory.pk, into_id=successor.pk), context=context)
        apply_decision(by=by, end_user_id=memory.end_user_id, operations=operations)
    return ReviewDecision(memories=(seen.next(), into.next()))


def reword_memory(*, by: Reviewer, seen: SeenVersion, content: str | None, value: str | None) -> ReviewDecision:
    """Change the sentence of a live memory or its value, "" for none; None leaves either as it is.

    A memory that says the same afterwards is refused.
    """
    given = {"content": content, "value": value}
    changes: dict[str, Any] = {name: text for name, text in given.items() if text is not None}

    def reword_one(each: SeenVersion) -> None:
        memory = find_seen(by=by, seen=each)
        if memory.status not in LIVE_STATUSES:
            raise Unfit(f"a memory that is {memory.status} can't be reworded")
        if all(getattr(memory, _COLUMNS[name]) == text for name, text in changes.items()):
            raise Unfit("the words are the same")
        revise(
            revision=Revision(
                project_id=by.project_id,
                memory_id=each.memory_id,
                changes=changes,
                actor=by.actor,
                expected_version=each.version,
            )
        )

    return decide_each(seen=[seen], decide=reword_one)


_COLUMNS = {"content": "content", "value": "object_text"}


def close_memory(*, by: Reviewer, seen: SeenVersion, ends_on: date) -> ReviewDecision:
    """End the validity of an active memory at the start of a day in UTC, or where it began if that was on this day.

    A day in the future leaves it active until then.
    """
    return decide_each(seen=[seen], decide=lambda each: _close(by, each, ends_on))


def _close(by: Reviewer, seen: SeenVersion, ends_on: date) -> None:
    memory = find_seen(by=by, seen=seen)
    if memory.status != Status.ACTIVE:
        raise Unfit(f"a memory that is {memory.status.replace('_', ' ')} can't be closed")
    ends_at = _end(memory, ends_on)
    is_over = ends_at <= timezone.now()
    changes: dict[str, Any] = {"valid_until": ends_at} | ({"status": Status.SUPERSEDED} if is_over else {})
    closing = ReviseMemory(
        memory_id=memory.pk,
        expected_version=memory.version,
        verb=ENDED if is_over else "revised",
        changes=changes,
    )
    try:
        apply_revision(memory=memory, operations=[closing], actor=by.actor)
    except StalePlan as stale:
        raise Conflict("somebody else was faster") from stale


def _end(memory: Memory, ends_on: date) -> datetime:
    begins_on = memory.valid_from.astimezone(UTC).date()
    if ends_on < begins_on:
        raise Unfit(f"it is true from {begins_on} on, so it can't end before")
    if ends_on == begins_on:
        return memory.valid_from
    return datetime.combine(ends_on, time.min, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a reviewer settles a link, and the versions of both memories that the reviewer saw."""

    link_id: UUID
    resolution: LinkResolution
    from_seen: SeenVersion
    to_seen: SeenVersion
    validity: Mapping[UUID, Validity] = field(default_factory=dict)  # by memory, if both are true
    changed_on: datetime | None = None  # the end of the older one, with CHANGED; None: the beginning of the newer one


def settle_link(*, by: Reviewer, settlement: Settlement) -> ReviewDecision:
    """Settle a link and change its two memories accordingly, in one transaction.

    The right memory is approved, the other one rejected; MERGED merges the newer into the older one, CHANGED lets it
    supersede the older one. Raises NotFound, Unfit for a validity that ends before it begins, and Conflict.
    """
    link = MemoryLink.objects.for_project(by.project_id).filter(pk=settlement.link_id).first()
    if link is None:
        raise NotFound("there is no such link")
    if link.status != LinkStatus.OPEN:
        raise Conflict("somebody else has settled the link")
    one, other = find_seen(by=by, seen=settlement.from_seen), find_seen(by=by, seen=settlement.to_seen)
    if (one.pk, other.pk) != (link.from_memory_id, link.to_memory_id):
        raise NotFound("the link connects two other memories")
    check_pair(one, other)
    settled = SetLinkStatus(
        from_id=link.from_memory_id,
        to_id=link.to_memory_id,
        kind=LinkKind(link.kind),
        expected=LinkStatus.OPEN,
        status=LinkStatus.SETTLED,
        resolution=settlement.resolution,
    )
    with transaction.atomic():
        hold_end_user(one.end_user_id)
        context = context_to_decide([one, other])
        changes = operations_of(_decision(one, other, settlement, context), context=context)
        apply_decision(by=by, end_user_id=one.end_user_id, operations=[*changes, settled])
    revised = {each.memory_id for each in changes if isinstance(each, ReviseMemory)}
    seen = [each for each in (settlement.from_seen, settlement.to_seen) if each.memory_id in revised]
    return ReviewDecision(memories=tuple(each.next() for each in seen), link_id=link.pk)


def _decision(one: Memory, other: Memory, settlement: Settlement, context: ReviewContext) -> Settle:
    """Check the dates and return the decision. Raises Unfit."""
    for memory in (one, other):
        validity = settlement.validity.get(memory.pk)
        if validity is not None and validity.ends and validity.ends < (validity.begins or memory.valid_from):
            raise Unfit(f"“{memory.content}” would end before it begins", at="/valid_until")
    newer, older = newer_first(context.memories[one.pk], context.memories[other.pk])
    begins = newer.valid_from or newer.said_at
    changed_on = settlement.changed_on or begins
    if changed_on.date() == begins.date():  # the reviewer gives a day without a time
        changed_on = begins
    if settlement.resolution is LinkResolution.CHANGED:
        if changed_on < (older.valid_from or older.said_at):
            raise Unfit(f"“{older.content}” would end before it begins", at="/changed_on")
        if newer.valid_until is not None and newer.valid_until < changed_on:
            raise Unfit(f"“{newer.content}” would end before it begins", at="/changed_on")
    return Settle(
        from_id=one.pk,
        to_id=other.pk,
        resolution=settlement.resolution,
        validity=settlement.validity,
        changed_on=changed_on,
    )


MOST_CHARACTERS = 2_000


def comment_on_memory(*, by: Reviewer, memory_id: UUID, text: str) -> MemoryComment:
    """Store a comment as plain text, redacted as the policy says; the ledger records that there is one.

    It is exported and erased with the end user. Raises NotFound, Unfit for an empty or too long text, Conflict while
    the end user is being erased.
    """
    try:
        cleaned = cleaned_text(text, at="/text", most=MOST_CHARACTERS).strip()
    except BadInput as error:
        raise Unfit(f"the comment {error}", at=error.at) from error
    memory = find_memory(project_id=by.project_id, memory_id=memory_id)
    told = redact(cleaned, policy=active_policy(project_id=by.project_id).redaction).text
    with transaction.atomic():
        hold_end_user(memory.end_user_id)
        comment = MemoryComment.objects.create(
            end_user_id=memory.end_user_id, memory=memory, author=by.actor, text=told
        )
        record(
            project_id=by.project_id,
            end_user_id=memory.end_user_id,
            verb="commented",
            object_kind="memory",
            object_id=memory.pk,
            actor=by.actor,
            details={"comment": str(comment.pk)},
        )
    return comment
