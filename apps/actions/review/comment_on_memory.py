"""Comment on a memory."""

from uuid import UUID

from django.db import transaction

from apps.actions.errors import Unfit
from apps.actions.get_or_create import hold_end_user
from apps.actions.ledger.record import record
from apps.actions.memories.revise import find_memory
from apps.actions.review.review_decisions import Reviewer
from apps.memories.models import MemoryComment
from apps.pipeline.core.input_validation import BadInput, cleaned_text
from apps.pipeline.redaction.redact import redact
from apps.traces.policies import active_policy

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
