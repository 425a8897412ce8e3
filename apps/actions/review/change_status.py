"""Retract, archive or restore memories, as a person in the console decides."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from apps.actions.errors import Unfit
from apps.actions.memories.retract import retract
from apps.actions.memories.revise import Revision, revise
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each, find_seen
from apps.pipeline.core.enums import Status


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
            person_id=by.person_id,
            expected_version=seen.version,
        )
        return
    revise(
        revision=Revision(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            changes={"status": after},
            person_id=by.person_id,
            expected_version=seen.version,
            may_review=True,
            restores=change is StatusChange.RESTORE,
        )
    )


_DONE = {StatusChange.RETRACT: "retracted", StatusChange.ARCHIVE: "archived", StatusChange.RESTORE: "restored"}
