"""Reword a memory: another sentence or value, as a person says it."""

from typing import Any

from apps.actions.errors import Unfit
from apps.actions.memories.revise import Revision, revise
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each, find_seen
from apps.pipeline.core.enums import LIVE_STATUSES


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
                person_id=by.person_id,
                expected_version=each.version,
            )
        )

    return decide_each(seen=[seen], decide=reword_one)


_COLUMNS = {"content": "content", "value": "object_text"}
