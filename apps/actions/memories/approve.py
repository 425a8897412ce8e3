"""Approve memories: agents may be told."""

from collections.abc import Sequence

from apps.actions.memories.revise import Revision, revise
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each
from apps.pipeline.core.enums import Status


def approve(*, by: Reviewer, seen: Sequence[SeenVersion], content: str | None = None) -> ReviewDecision:
    """Make memories that wait for a person active, in other words where `content` is given (for one memory only)."""
    changes: dict[str, object] = {"status": Status.ACTIVE}
    if content is not None and len(seen) == 1:
        changes["content"] = content
    return decide_each(seen=seen, decide=lambda each: _approve(by, each, changes))


def _approve(by: Reviewer, seen: SeenVersion, changes: dict[str, object]) -> None:
    revise(
        revision=Revision(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            changes=changes,
            person_id=by.person_id,
            expected_version=seen.version,
            may_review=True,
        )
    )
