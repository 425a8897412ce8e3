"""Approve memories: a reviewer confirms them, and agents can retrieve them."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.actions.memories.revise import Revision, revise
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each, find_seen
from apps.pipeline.core.enums import Status


def approve(
    *,
    by: Reviewer,
    seen: Sequence[SeenVersion],
    content: str | None = None,
    value: str | None = None,
    replaces: Sequence[SeenVersion] = (),
) -> ReviewDecision:
    """Make memories that wait for review active; the approval raises their confidence.

    Only for a single memory: another wording (`content`), another object (`value`, empty for none), and the memories
    of the same end user that are no longer true (`replaces`).
    """
    changes: dict[str, Any] = {"status": Status.ACTIVE}
    if len(seen) != 1:
        return decide_each(seen=seen, decide=lambda each: _approve(by, each, changes))
    if content is not None:
        changes["content"] = content
    if value is not None:
        changes["value"] = value
    return decide_each(seen=seen, decide=lambda each: _approve(by, each, changes, replaces))


def _approve(by: Reviewer, seen: SeenVersion, changes: Mapping[str, Any], replaces: Sequence[SeenVersion] = ()) -> None:
    revise(
        revision=Revision(
            project_id=by.project_id,
            memory_id=seen.memory_id,
            changes=changes,
            person_id=by.person_id,
            expected_version=seen.version,
            may_review=True,
            replaces=frozenset(find_seen(by=by, seen=each).pk for each in replaces),
        )
    )
