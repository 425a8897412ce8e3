"""Reject memories: they should not have been stored."""

from collections.abc import Sequence

from apps.actions.memories.revise import Revision, revise
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each
from apps.pipeline.core.enums import RejectionReason, Status


def reject(*, by: Reviewer, seen: Sequence[SeenVersion], reason: RejectionReason) -> ReviewDecision:
    """Reject memories that wait for review; the reason is recorded in the ledger."""

    def reject_one(each: SeenVersion) -> None:
        revise(
            revision=Revision(
                project_id=by.project_id,
                memory_id=each.memory_id,
                changes={"status": Status.REJECTED},
                person_id=by.person_id,
                expected_version=each.version,
                may_review=True,
                note=reason,
            )
        )

    return decide_each(seen=seen, decide=reject_one)
