"""Stage 1, pre_filter: drop the turns that can't contain a memory, by rules alone and with one reason each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from apps.pipeline.core.draft import Draft, Drop
from apps.pipeline.core.enums import Reason, Role, Stage
from apps.pipeline.core.policy import PreFilterPolicy
from apps.pipeline.prefilter.conversation import Utterance, is_answer, is_repeated, is_resent
from apps.pipeline.prefilter.matcher import RuleBook, rule_books
from apps.pipeline.prefilter.text_shape import is_code_only, is_emoji_only, is_payload, letters

MAX_MATCHED = 120  # characters of the matched text in a span
_RuleBooks = Mapping[tuple[Role, bool], RuleBook]  # by role, and whether a turn of it answers a question


@dataclass(frozen=True, slots=True)
class TurnVerdict:
    """Why a turn is dropped: a Reason or `pattern:<rule>`; `detail` has the rule and text where a rule decided."""

    reason: str
    detail: Mapping[str, str] = field(default_factory=dict)


def run(draft: Draft) -> Draft:
    """Drop each turn that a check or rule matches; remove text that this server rendered from the other turns."""
    policy = draft.policy.pre_filter
    books = rule_books(policy)
    earlier = [Utterance(turn, limit=policy.scan_characters) for turn in draft.request.earlier_turns]
    sent = [Utterance(turn, limit=policy.scan_characters) for turn in draft.request.turns]
    said = [*earlier, *sent]
    waiting = {turn.id for turn in draft.turns}
    drops: dict[UUID, Drop] = {}
    for place, utterance in enumerate(sent):
        if utterance.turn.id not in waiting:
            continue
        resent = utterance.turn.role in policy.trusted_roles and is_resent(place, sent=sent, earlier=earlier)
        before = said[: len(earlier) + place]
        verdict = decide(utterance=utterance, earlier=before, resent=resent, books=books, policy=policy)
        if verdict is not None:
            drops[utterance.turn.id] = Drop(
                Stage.PRE_FILTER, verdict.reason, turn_id=utterance.turn.id, detail=verdict.detail
            )
    kept = [each for each in sent if each.turn.id in waiting and each.turn.id not in drops]
    return draft.evolve(
        turns=tuple(replace(each.turn, content=each.own) for each in kept),  # without what this server rendered
        drops=(*draft.drops, *drops.values()),
        details={
            "judged": len(draft.turns),
            "reasons": dict(Counter(drop.reason for drop in drops.values())),
            "drops": [{"turn": str(each.turn_id), "reason": each.reason, **each.detail} for each in drops.values()],
            "cut": sum(each.own is not each.turn.content for each in kept),  # kept turns
        },
    )


def decide(
    *, utterance: Utterance, earlier: Sequence[Utterance], resent: bool, books: _RuleBooks, policy: PreFilterPolicy
) -> TurnVerdict | None:
    """Return why a turn is dropped, or None to keep it; the first of these checks decides.

    1. Who said it: an untrusted role, or a turn that was sent before under the same id.
    2. What it says: the first rule that matches it.
    3. What it is: a payload, code, nothing but emoji, too short, said before.
    A turn is `resent` if it has the same neighbour as an earlier turn with the same text.
    What 2 and 3 find around text that this server rendered has the reason recalled_context.
    """
    if utterance.turn.role not in policy.trusted_roles:
        return TurnVerdict(reason=Reason.UNTRUSTED_ROLE)
    sent = utterance.turn.external_id
    if sent and any(before.turn.external_id == sent for before in earlier):
        return TurnVerdict(reason=Reason.REPEATED_TURN)

    def tells(other: Utterance) -> bool:
        return _judge_text(other, False, books, policy) is None

    answering = is_answer(utterance, earlier=earlier)
    verdict = _judge_text(utterance, answering, books, policy)
    if verdict is None:
        window = earlier[-policy.repeat_window :] if policy.repeat_window else ()
        if resent or (not answering and is_repeated(utterance, earlier=window, tells=tells)):
            verdict = TurnVerdict(reason=Reason.REPEATED_TURN)
    # Around text that this server rendered only complete statements are kept.
    if verdict is not None and utterance.own is not utterance.turn.content:
        return TurnVerdict(reason=Reason.RECALLED_CONTEXT)
    return verdict


def _judge_text(
    utterance: Utterance, answering: bool, books: _RuleBooks, policy: PreFilterPolicy
) -> TurnVerdict | None:
    """Return the reason to reject a turn by its words or its shape; "2" or an emoji can be an answer to a question."""
    text = utterance.own
    if hit := books[utterance.turn.role, answering].first_hit(utterance.words):
        rule, matched = hit
        reason = f"{Reason.PATTERN}:{rule.name}" if rule.reason is Reason.PATTERN else str(rule.reason)
        return TurnVerdict(reason, {"rule": rule.name, "matched": matched[:MAX_MATCHED]})
    if is_payload(text):
        return TurnVerdict(reason=Reason.STRUCTURED_PAYLOAD)
    if is_code_only(text):
        return TurnVerdict(reason=Reason.CODE_ONLY)
    if is_emoji_only(text):
        return None if answering else TurnVerdict(reason=Reason.EMOJI_ONLY)
    if letters(text, enough=policy.min_letters) < (1 if answering else policy.min_letters):
        return TurnVerdict(reason=Reason.TOO_SHORT)
    return None
