"""Origin: whose statement a candidate is, by where its quote is and where the words of its claim come from.

A model may quote harmless words of the user as evidence for a claim of a mail, a tool or the assistant. So both are
checked: a statement has the origin of its quote and, if the user's own words don't contain its claim, that of the
text that does.
"""

from collections.abc import Sequence

from apps.pipeline.core.enums import Reason, SpeechAct
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extraction_result import CandidateRefusal
from apps.pipeline.extraction.llm.claim_source import foreign_source
from apps.pipeline.prompts.sections import ShownEntity, ShownMemory, ShownTurn
from apps.pipeline.provenance.orders import is_binding, is_naming
from apps.pipeline.provenance.own_words import words_of
from apps.pipeline.provenance.spans import ForeignKind, Standing


def settle_origin(
    candidate: Candidate,
    *,
    turn: SourceTurn,
    turns: Sequence[ShownTurn],
    memories: Sequence[ShownMemory] = (),
    entities: Sequence[ShownEntity] = (),
) -> Candidate | CandidateRefusal:
    """Return a candidate with the consequences of its origin, or its refusal.

    A statement in others' words is at most reported: it replaces, repeats and contradicts nothing. Instructions to the
    agent and names are refused.
    """
    words = words_of(turn, earlier=[each.turn for each in turns if _said_before(each.turn, turn)])
    kind: ForeignKind | None = None
    if words.standing_of(candidate.evidence) is Standing.OTHERS:
        kind = words.kind_of(candidate.evidence)
        why = f"the quote stands in others' words: {kind}"
    else:
        known = " ".join((*(each.memory.content for each in memories), *(each.entity.name for each in entities)))
        why = foreign_source(candidate, turn=turn, words=words, turns=turns, known=known)
    if not why:
        return candidate
    if is_binding(candidate) or is_naming(candidate):
        return CandidateRefusal(candidate, Reason.OTHERS_WORDS, why)
    meant = SpeechAct.ROLEPLAY if kind is ForeignKind.ROLE_PLAY else SpeechAct.QUOTED
    return reported(candidate, meant=meant)


def reported(candidate: Candidate, *, meant: SpeechAct) -> Candidate:
    """Return a candidate as somebody else's statement, which proposes nothing about known memories."""
    return candidate.evolve(
        speech_act=meant if candidate.speech_act is SpeechAct.ASSERTED else candidate.speech_act,
        replaces=(),
        same_as=None,
        contradicts=(),
    )


def _said_before(other: SourceTurn, turn: SourceTurn) -> bool:
    return other.position < turn.position and (other.role, other.speaker) == (turn.role, turn.speaker)
