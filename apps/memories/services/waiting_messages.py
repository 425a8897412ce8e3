"""Find messages that wait to be processed, so that agents learn of them as quotes meanwhile."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.outbox.models import OutboxRow
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.extraction.forget_requests import with_forget_requests
from apps.pipeline.extraction.not_to_store import without_unwanted
from apps.pipeline.extraction.plain.own_sentences import own_sentences
from apps.pipeline.lexicon.tables import FRAME
from apps.pipeline.lexicon.word_stems import stems
from apps.traces.drafts import load_drafts
from apps.traces.models import Session

MOST_REQUESTS = 50  # of an end user that are looked at, the latest
MOST_MESSAGES = 8
_COMMON = stems(" ".join(FRAME))


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A message that was accepted and has not been processed yet."""

    turn_id: UUID
    session_id: str  # as the caller names it
    content: str
    said_at: datetime


def waiting_messages(*, end_user_id: UUID, query: str, told_in: AgentScope) -> tuple[WaitingMessage, ...]:
    """Return the waiting messages of an end user that share a word with a query, the latest first.

    A blank query returns the latest. Only the user's own words are quoted. What the user asked not to store, and what
    is private to another agent, is left out.
    """
    rows = OutboxRow.objects.open().filter(end_user_id=end_user_id, kind=WorkKind.RUN_PIPELINE)
    by_session: dict[UUID, list[UUID]] = {}
    for session_id, trace_id in rows.order_by("-id").values_list("session_id", "subject_id")[:MOST_REQUESTS]:
        if session_id is not None:
            by_session.setdefault(session_id, []).insert(0, trace_id)
    names = dict(Session.objects.filter(end_user_id=end_user_id, id__in=by_session).values_list("id", "external_id"))
    wanted = stems(query) - _COMMON
    found: list[WaitingMessage] = []
    for session_id, trace_ids in by_session.items():
        loaded = load_drafts(end_user_id=end_user_id, trace_ids=trace_ids)
        for draft in without_unwanted([with_forget_requests(each) for each in loaded]):
            request, most = draft.request, draft.policy.extraction.max_turn_characters
            is_shared = draft.private_to in {"", told_in.agent_id}
            if not is_shared or not told_in.given().items() <= request.origin.agent_scope.given().items():
                continue
            for turn in draft.turns:
                before = [each for each in (*request.earlier_turns, *request.turns) if each.position < turn.position]
                words = " ".join(own_sentences(turn, before=before, most=most))
                if words and (not query.strip() or not wanted.isdisjoint(stems(words))):
                    found.append(WaitingMessage(turn.id, names[session_id], words, turn.said_at))
    found.sort(key=lambda each: each.said_at)
    return tuple(found[: -MOST_MESSAGES - 1 : -1])
