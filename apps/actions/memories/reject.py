"""Reject memories: they should not have been stored."""

from collections.abc import Sequence

from apps.actions.memories.revise import Revision, revise
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each
from apps.pipeline.core.enums import RejectionReason, Status


def reject(*, by: Reviewer, seen: Sequence[SeenVersion], reason: RejectionReason) -> ReviewDecision:
    """Reject memories that wait for a person; the reason goes into the ledger."""
    return decide_each(seen=seen, decide=lambda each: _reject(by, each, reason))


def _reject(by: Reviewer, seen: SeenVersion, reason: RejectionReason) -> None:
    revise(
        revision=Revision(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            changes={"status": Status.REJECTED},
            person_id=by.person_id,
            expected_version=seen.version,
            may_review=True,
            note=reason,
        )
    )
