"""Decisions about memories and pairs: approve, reject, reword, merge, settle, comment, undo."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Refused, Unfit
from apps.memories.ledger.actor import current_actor
from apps.memories.ledger.record import record
from apps.memories.models import Memory, MemoryComment, MemoryLink
from apps.memories.services.lifecycle import ENDED
from apps.memories.services.revising import Revision, apply_decision, find_memory, retract, revise
from apps.pipeline.core.enums import LIVE_STATUSES, LinkKind, LinkResolution, LinkStatus, RejectionReason, Status
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.core.operations import ReviseMemory, SetLinkStatus
from apps.pipeline.core.statement import StoredMemory
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
from apps.traces.get_or_create import hold_end_user
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
class ReviewDecision:
    """What a decision left behind: enough to undo it."""

    memories: tuple[SeenVersion, ...] = ()
    link_id: UUID | None = None
    refused: Mapping[UUID, Refused] = field(default_factory=dict)  # memories about which nothing was decided, and why

    @property
    def versions(self) -> str:
        """Return the memories as a form sends them: a single value, since a form has at most 1,000."""
        return " ".join(map(str, self.memories))


def decide_each(*, seen: Sequence[SeenVersion], decide: Callable[[SeenVersion], None]) -> ReviewDecision:
    """Decide about memories one by one; one that can't be decided holds up no other."""
    done: list[SeenVersion] = []
    refused: dict[UUID, Refused] = {}
    for each in seen:
        try:
            decide(each)
            done.append(each.next())
        except Refused as why:
            refused[each.memory_id] = why
    return ReviewDecision(memories=tuple(done), refused=refused)


def find_seen(*, project_id: UUID, seen: SeenVersion) -> Memory:
    """Return a memory as it was seen. Raises NotFound, Conflict when it has changed since."""
    memory = find_memory(project_id=project_id, memory_id=seen.memory_id)
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


def _revise(project_id: UUID, seen: SeenVersion, changes: Mapping[str, Any], **more: Any) -> None:
    """Revise a memory in the version that was seen, for a person who may review it."""
    revise(
        revision=Revision(project_id, seen.memory_id, changes, expected_version=seen.version, may_review=True, **more)
    )


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


def change_status(*, project_id: UUID, seen: Sequence[SeenVersion], change: StatusChange) -> ReviewDecision:
    """Change the status of memories, each in the version that was seen; one that can't be changed holds up no other."""

    def change_one(each: SeenVersion) -> None:
        before = Status(find_seen(project_id=project_id, seen=each).status)
        after = _AFTER[change].get(before)
        if after is None:
            raise Unfit(f"a memory that is {before.replace('_', ' ')} can't be {_DONE[change]}")
        if after is Status.RETRACTED:
            retract(project_id=project_id, memory_id=each.memory_id, expected_version=each.version)
        else:
            _revise(project_id, each, {"status": after}, restores=change is StatusChange.RESTORE)

    return decide_each(seen=seen, decide=change_one)


_DONE = {StatusChange.RETRACT: "retracted", StatusChange.ARCHIVE: "archived", StatusChange.RESTORE: "restored"}


def approve(
    *,
    project_id: UUID,
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
    if len(seen) == 1:
        changes |= _given_words(content, value)
    else:
        replaces, is_confirmed, as_uncertain = (), False, False

    def approve_one(each: SeenVersion) -> None:
        is_doubtful = not (is_confirmed or as_uncertain or "content" in changes)
        if is_doubtful and not is_asserted(find_seen(project_id=project_id, seen=each)):
            raise Unfit("the user did not say this as a fact: decide about it alone")
        closed = frozenset(find_seen(project_id=project_id, seen=other).pk for other in replaces)
        _revise(project_id, each, changes, replaces=closed, as_uncertain=as_uncertain)

    return decide_each(seen=seen, decide=approve_one)


def _given_words(content: str | None, value: str | None) -> dict[str, str]:
    """Return the changes of a sentence and its value; None leaves either as it is."""
    return {name: text for name, text in (("content", content), ("value", value)) if text is not None}


def reject(*, project_id: UUID, seen: Sequence[SeenVersion], reason: RejectionReason) -> ReviewDecision:
    """Reject memories that wait for review; the reason is recorded in the ledger."""
    rejected = {"status": Status.REJECTED}
    return decide_each(seen=seen, decide=lambda each: _revise(project_id, each, rejected, note=reason))


def merge_memories(*, project_id: UUID, seen: SeenVersion, into: SeenVersion) -> ReviewDecision:
    """Give the origins of a memory to another one of the same end user, which is approved.

    Origins of another day raise its confidence. Raises NotFound, and Conflict if either has changed since it was seen
    or is no longer live.
    """
    memory, successor = (find_seen(project_id=project_id, seen=each) for each in (seen, into))
    check_pair(memory, successor)
    with transaction.atomic():
        hold_end_user(memory.end_user_id)
        context = context_to_decide([memory, successor])
        operations = operations_of(Merge(memory_id=memory.pk, into_id=successor.pk), context=context)
        apply_decision(project_id=project_id, end_user_id=memory.end_user_id, operations=operations)
    return ReviewDecision(memories=(seen.next(), into.next()))


def reword_memory(*, project_id: UUID, seen: SeenVersion, content: str | None, value: str | None) -> ReviewDecision:
    """Change the sentence of a live memory or its value, "" for none; None leaves either as it is.

    A memory that says the same afterwards is refused.
    """
    changes = _given_words(content, value)

    def reword_one(each: SeenVersion) -> None:
        memory = find_seen(project_id=project_id, seen=each)
        if memory.status not in LIVE_STATUSES:
            raise Unfit(f"a memory that is {memory.status} can't be reworded")
        known = {"content": memory.content, "value": memory.object_text}
        if changes.items() <= known.items():
            raise Unfit("the words are the same")
        _revise(project_id, each, changes)

    return decide_each(seen=[seen], decide=reword_one)


def close_memory(*, project_id: UUID, seen: SeenVersion, ends_on: datetime) -> ReviewDecision:
    """End the validity of an active memory with the start of a day in UTC, or where it began if that was on this day.

    A day in the future leaves it active until then.
    """

    def close_one(each: SeenVersion) -> None:
        memory = find_seen(project_id=project_id, seen=each)
        if memory.status != Status.ACTIVE:
            raise Unfit(f"a memory that is {memory.status.replace('_', ' ')} can't be closed")
        begins = memory.valid_from.astimezone(UTC)
        if ends_on.date() < begins.date():
            raise Unfit(f"it is true from {begins.date()} on, so it can't end before")
        ends_at = max(ends_on, begins)
        is_over = ends_at <= timezone.now()
        changes: dict[str, Any] = {"valid_until": ends_at} | ({"status": Status.SUPERSEDED} if is_over else {})
        closing = ReviseMemory(memory.pk, memory.version, verb=ENDED if is_over else "revised", changes=changes)
        apply_decision(project_id=project_id, end_user_id=memory.end_user_id, operations=[closing])

    return decide_each(seen=[seen], decide=close_one)


def settle_link(
    *,
    project_id: UUID,
    link_id: UUID,
    seen: Sequence[SeenVersion],
    resolution: LinkResolution,
    validity: Mapping[UUID, Validity] | None = None,
    changed_on: datetime | None = None,
) -> ReviewDecision:
    """Settle a link and change its two memories, `seen` in the order of the link, in one transaction.

    The right memory is approved, the other one rejected; MERGED merges the newer into the older one, CHANGED lets it
    supersede the older one on `changed_on`, by default where the newer one begins; with BOTH each may get a `validity`.
    Raises NotFound, Unfit for a validity that ends before it begins, and Conflict.
    """
    link = MemoryLink.objects.for_project(project_id).filter(pk=link_id).first()
    if link is None:
        raise NotFound("there is no such link")
    if link.status != LinkStatus.OPEN:
        raise Conflict("somebody else has settled the link")
    one, other = (find_seen(project_id=project_id, seen=each) for each in seen)
    if (one.pk, other.pk) != (link.from_memory_id, link.to_memory_id):
        raise NotFound("the link connects two other memories")
    check_pair(one, other)
    settled = SetLinkStatus(one.pk, other.pk, LinkKind(link.kind), LinkStatus.SETTLED, resolution)
    decision = Settle(one.pk, other.pk, resolution, validity or {}, changed_on)
    with transaction.atomic():
        hold_end_user(one.end_user_id)
        context = context_to_decide([one, other])
        changes = operations_of(_with_checked_dates(decision, context), context=context)
        apply_decision(project_id=project_id, end_user_id=one.end_user_id, operations=[*changes, settled])
    revised = {each.memory_id for each in changes if isinstance(each, ReviseMemory)}
    return ReviewDecision(memories=tuple(each.next() for each in seen if each.memory_id in revised), link_id=link.pk)


def _with_checked_dates(decision: Settle, context: ReviewContext) -> Settle:
    """Return the decision with the moment of the change. Raises Unfit for a memory that would end before it begins."""
    pair = context.memories[decision.from_id], context.memories[decision.to_id]
    for memory in pair:
        validity = decision.validity.get(memory.id, Validity())
        if validity.ends and validity.ends < (validity.begins or _beginning(memory)):
            raise Unfit(f"“{memory.content}” would end before it begins", at="/valid_until")
    newer, older = newer_first(*pair)
    begins = _beginning(newer)
    changed_on = decision.changed_on or begins
    if changed_on.date() == begins.date():  # the reviewer gives a day without a time
        changed_on = begins
    if decision.resolution is LinkResolution.CHANGED:
        if changed_on < _beginning(older):
            raise Unfit(f"“{older.content}” would end before it begins", at="/changed_on")
        if newer.valid_until is not None and newer.valid_until < changed_on:
            raise Unfit(f"“{newer.content}” would end before it begins", at="/changed_on")
    return replace(decision, changed_on=changed_on)


def _beginning(memory: StoredMemory) -> datetime:
    return memory.valid_from or memory.said_at


MOST_CHARACTERS = 2_000


def comment_on_memory(*, project_id: UUID, memory_id: UUID, text: str) -> None:
    """Store a comment as plain text, redacted as the policy says; the ledger records that there is one.

    It is exported and erased with the end user. Raises NotFound, Unfit for an empty or too long text, Conflict while
    the end user is being erased.
    """
    try:
        cleaned = cleaned_text(text, at="/text", most=MOST_CHARACTERS).strip()
    except BadInput as error:
        raise Unfit(f"the comment {error}", at=error.at) from error
    memory = find_memory(project_id=project_id, memory_id=memory_id)
    told = redact(cleaned, policy=active_policy(project_id=project_id).redaction).text
    with transaction.atomic():
        hold_end_user(memory.end_user_id)
        comment = MemoryComment.objects.create(
            end_user_id=memory.end_user_id, memory=memory, author=current_actor(), text=told
        )
        record(
            project_id=project_id,
            end_user_id=memory.end_user_id,
            verb="commented",
            object_kind="memory",
            object_id=memory.pk,
            details={"comment": str(comment.pk)},
        )
