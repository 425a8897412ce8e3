"""Origin: whose statement a candidate is, by where its quote is and where the words of its claim come from.

A model may quote harmless words of the user as evidence for a claim of a mail, a tool or the assistant. So both are
checked: a statement has the origin of its quote and, if the user's own words don't contain its claim, that of the
text that does.
"""

import re
from collections.abc import Iterator, Sequence

import re2

from apps.pipeline.core.enums import EntityType, Reason, Role, SpeechAct
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extraction_result import CandidateRefusal
from apps.pipeline.prompts.sections import ShownEntity, ShownMemory, ShownTurn
from apps.pipeline.provenance.binding import is_binding
from apps.pipeline.provenance.own_words import words_of
from apps.pipeline.provenance.spans import ForeignKind, Standing, TurnWords
from apps.pipeline.provenance.word_stems import stems
from apps.pipeline.resolution.resolve_refs import NAME_PREDICATES

MOST_WORDS_OF_ASSENT = 4  # "Yes, please do that": words of an answer that accepts an offer
_FRAME = " ".join(("user", "assistant", "wants", "should", "always", "never", "agent", *EntityType))
_QUESTION = re2.compile(r"[^.!?\n]{0,300}[.!]? ?[^.!?\n]{0,300}\?")
_CLAUSE_END = re.compile(r"[.,;:!?…\n]")
_POINTS_BACK = re.compile(
    r"(?i)\b(?:it|its|that|this|those|these|there|them|they|one|ones|both|he|him|she|her|here|first|second|last|es|das|dort|da|ça|là|ce)\b"
)
_CERTAIN = re.compile(r"[A-ZÀ-ÞΑ-ΩА-Я]|\d|@|://")  # shows a value that can't be a paraphrase: a name, a number


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
        why = _borne_by(candidate, turn=turn, words=words, turns=turns, known=known)
    if not why:
        return candidate
    if is_binding(candidate) or candidate.predicate in NAME_PREDICATES:
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


def _borne_by(
    candidate: Candidate, *, turn: SourceTurn, words: TurnWords, turns: Sequence[ShownTurn], known: str
) -> str:
    """Return what contains the claim of a candidate if not the user's own words; "" if these do, or nothing does."""
    binds = is_binding(candidate)
    claim = candidate.content if binds else candidate.object.text or candidate.content
    claimed = stems(f"{claim} {_named_subject(candidate)}") - stems(f"{_speaker_name(candidate)} {_FRAME}")
    before = next((each.turn for each in turns if each.turn.position == turn.position - 1), None)
    own = stems(" ".join((*_own_texts(words, turns), _accepted(before, turn, binds=binds), "" if binds else known)))
    for source, role, text in _others(words, turn, turns):
        found = (claimed - own) & stems(text)
        if not found or (claimed & own and 2 * len(found) <= len(claimed)):
            continue
        if role is not Role.ASSISTANT or binds or not _may_refer(candidate, claim, own=own):
            return f"its claim stands in others' words alone: {source}"
    return ""


def _may_refer(candidate: Candidate, claim: str, *, own: set[str]) -> bool:
    """Return True if the user's words may refer to those of the assistant: "I loved it there", after "Lisbon"."""
    said = stems(candidate.content) - stems(f"{candidate.subject.text} {_FRAME}")
    if not _CERTAIN.search(claim):
        return bool(said & own)
    clauses = _CLAUSE_END.split(candidate.evidence)
    return any(_POINTS_BACK.search(clause) is not None and said & stems(clause) for clause in clauses)


def _speaker_name(candidate: Candidate) -> str:
    return candidate.subject.text if candidate.subject.is_speaker else ""


def _named_subject(candidate: Candidate) -> str:
    """Return the name of the subject, unless it is the speaker or a known entity."""
    is_known = candidate.subject.is_speaker or candidate.subject.entity_id is not None
    return "" if is_known else candidate.subject.text


def _own_texts(words: TurnWords, turns: Sequence[ShownTurn]) -> Iterator[str]:
    yield from words.segments()
    for shown in turns:
        if shown.turn.role is Role.USER and shown.turn.content != words.text:
            yield from words_of(shown.turn).segments()


def _accepted(before: SourceTurn | None, turn: SourceTurn, *, binds: bool) -> str:
    """Return the question of the assistant that a turn answers; only a short answer accepts an offer of a rule."""
    if before is None or before.role is not Role.ASSISTANT:
        return ""
    first, *_ = _CLAUSE_END.split(turn.content.strip())
    if binds and len(first.split()) > MOST_WORDS_OF_ASSENT:
        return ""
    return " ".join(found.group() for found in _QUESTION.finditer(before.content))


def _others(words: TurnWords, turn: SourceTurn, turns: Sequence[ShownTurn]) -> Iterator[tuple[str, Role, str]]:
    """Yield others' words with their source: pastes in the turn, pastes in other turns, and other roles."""
    for text in words.foreign_texts():
        yield "the same turn", Role.TOOL, text
    for shown in turns:
        if shown.turn.role is not Role.USER:
            yield f"a turn of the {shown.turn.role}", shown.turn.role, shown.turn.content
        elif shown.turn.id != turn.id:
            for text in words_of(shown.turn).foreign_texts():
                yield "another turn", Role.TOOL, text
