"""Origin: whose statement a candidate is, by where its quote is and where the words of its claim come from.

A model may quote harmless words of the user as evidence for a claim of a mail, a tool or the assistant. So both are
checked: a statement has the origin of its quote and, if the user's own words don't contain its claim, that of the
text that does.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import EntityType, Reason, Role, SpeechAct
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.extraction_result import CandidateRefusal
from apps.pipeline.extraction.llm.evidence import before, is_negated
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.word_stems import stems
from apps.pipeline.prompts.sections import ShownTurn
from apps.pipeline.provenance.orders import is_binding, is_naming
from apps.pipeline.provenance.own_words import ForeignKind, Standing, TurnWords, announces, in_first_person, words_of

MOST_WORDS_OF_ASSENT = 4  # "Yes, please do that": words of an answer that takes an offer
MOST_WORDS_OF_ACCEPTANCE = 8  # of an answer that points back to a suggestion: "Yes, let's do that"
_FRAME = stems(" ".join(("user", "assistant", "wants", "should", "always", "never", "agent", *EntityType)))
_QUESTION = re2.compile(r"[^.!?\n]{0,300}[.!]? ?[^.!?\n]{0,300}\?")
_CLAUSE = re.compile(r"[^.,;:!?…\n]+[.,;:!?…\n]?")
_POINTS_BACK = re.compile(
    r"(?i)\b(?:it|its|that|this|those|these|there|them|they|one|ones|both|he|him|she|her|here|first|second|last|es|das|dort|da|ça|là|ce)\b"
)
_POINTS_AT_THING = re.compile(r"(?i)\b(?:that|this|those|these|the|both|dies\w*|cet|cette|ce|ces) [^\W\d_]")
_CERTAIN = re.compile(r"[A-ZÀ-ÞΑ-ΩА-Я]|\d|@|://")  # the mark of a value that can't be a paraphrase: a name, a number
_WORD = re.compile(r"[^\W_]+")


def settle_origin(
    candidate: Candidate, *, turn: SourceTurn, turns: Sequence[ShownTurn], known: str
) -> Candidate | CandidateRefusal:
    """Return a candidate with the consequences of its origin, or its refusal.

    A statement in others' words is at most reported: it replaces, repeats and contradicts nothing. Instructions to the
    agent and names are refused. `known` are the sentences and names that the prompt has shown: they support whatever
    sets no rule.
    """
    words = words_of(turn, earlier=[each.turn for each in turns if _said_before(each.turn, turn)])
    meant = SpeechAct.QUOTED
    if words.standing_of(candidate.evidence) is Standing.OTHERS:
        kind = words.kind_of(candidate.evidence)
        why = f"the quote stands in others' words: {kind}"
        meant = SpeechAct.ROLEPLAY if kind is ForeignKind.ROLE_PLAY else meant
    else:
        why = _foreign_source(candidate, turn=turn, words=words, turns=turns, known=known)
    if not why:
        return candidate
    if is_binding(candidate) or is_naming(candidate):
        return CandidateRefusal(candidate, Reason.OTHERS_WORDS, why)
    speech_act = meant if candidate.speech_act is SpeechAct.ASSERTED else candidate.speech_act
    return candidate.evolve(speech_act=speech_act, replaces=(), same_as=None, contradicts=())


def _said_before(other: SourceTurn, turn: SourceTurn) -> bool:
    return other.position < turn.position and (other.role, other.speaker) == (turn.role, turn.speaker)


@dataclass(frozen=True, slots=True)
class OthersText:
    """Words that are not the user's own, and where they stand."""

    text: str
    is_same_turn: bool = False
    role: Role = Role.USER

    @property
    def place(self) -> str:
        """Return where they stand, as a refusal names it."""
        if self.role is not Role.USER:
            return f"a turn of the {self.role}"
        return "the same turn" if self.is_same_turn else "another turn"


@dataclass(frozen=True, slots=True)
class CandidateClaim:
    """What a candidate says, as the stems by which it is looked for in texts."""

    candidate: Candidate
    text: str  # its value; of a rule, or without a value, the whole sentence
    stems: frozenset[str]
    own: frozenset[str]  # stems of the user's own words
    standing: Standing  # whose words the quote is

    @property
    def said(self) -> set[str]:
        """Return the stems of what it says, apart from whom it is about."""
        return stems(self.candidate.content) - stems(self.candidate.subject.text) - _FRAME

    @property
    def clauses(self) -> list[str]:
        """Return the clauses of its quote."""
        return _CLAUSE.findall(self.candidate.evidence)


def _foreign_source(
    candidate: Candidate, *, turn: SourceTurn, words: TurnWords, turns: Sequence[ShownTurn], known: str
) -> str:
    """Return what holds the claim of a candidate if it is not the user's own words; "" if these do, or nothing does."""
    others = tuple(_others(words, turn, turns))
    if not others:
        return ""
    binds = is_binding(candidate)
    accepted = _accepted(before(turn, turns), turn, binds=binds, names=is_naming(candidate))
    own = (*_own_texts(words, turns), accepted, "" if binds else known)
    claim = _claim(candidate, own=frozenset(stems(" ".join(own))), standing=words.standing_of(candidate.evidence))
    for source in others:
        found = (claim.stems - claim.own) & stems(source.text)
        is_mostly_own = claim.stems & claim.own and 2 * len(found) <= len(claim.stems)
        if found and not is_mostly_own and (binds or not _may_be_taken_up(claim, found, source)):
            return f"its claim stands in others' words alone: {source.place}"
    return ""


def _others(words: TurnWords, turn: SourceTurn, turns: Sequence[ShownTurn]) -> Iterator[OthersText]:
    """Yield others' words: the turn's own pastes, those of other turns, and what other roles say."""
    for text in words.foreign_texts():
        yield OthersText(text, is_same_turn=True)
    for shown in turns:
        if shown.turn.role is not Role.USER:
            yield OthersText(shown.turn.content, role=shown.turn.role)
        elif shown.turn.id != turn.id:
            yield from map(OthersText, words_of(shown.turn).foreign_texts())


def _own_texts(words: TurnWords, turns: Sequence[ShownTurn]) -> Iterator[str]:
    yield from words.segments()
    for shown in turns:
        if shown.turn.role is Role.USER and shown.turn.content != words.text:
            yield from words_of(shown.turn).segments()


def _accepted(suggested: SourceTurn | None, turn: SourceTurn, *, binds: bool, names: bool) -> str:
    """Return what a turn takes up of the assistant's turn before it: its questions, or all of a suggestion.

    A suggestion is accepted in any language by a turn that neither asks nor denies, and that is very short or points
    back: "klingt gut, das nehmen wir". A name is only taken from a question, and a rule only by a short answer to one.
    """
    if suggested is None or suggested.role is not Role.ASSISTANT:
        return ""
    first, *_ = _CLAUSE.findall(turn.content.strip()) or [""]
    if binds and len(first.split()) > MOST_WORDS_OF_ASSENT:
        return ""
    count = len(turn.content.split())
    is_short = count <= MOST_WORDS_OF_ASSENT
    points_back = count <= MOST_WORDS_OF_ACCEPTANCE and _POINTS_BACK.search(turn.content) is not None
    if not (binds or names) and (is_short or points_back) and "?" not in turn.content and not is_negated(turn.content):
        return suggested.content
    return " ".join(found.group() for found in _QUESTION.finditer(suggested.content))


def _claim(candidate: Candidate, *, own: frozenset[str], standing: Standing) -> CandidateClaim:
    """Read a claim; a known subject and the numbers of a time that was computed are no words of anybody."""
    text = candidate.content if is_binding(candidate) else candidate.object.text or candidate.content
    is_known = candidate.subject.is_speaker or candidate.subject.entity_id is not None
    moments = (candidate.event_at, candidate.valid_from, candidate.valid_until)
    times = " ".join(f"{each:%Y %m %d %B} {each.month} {each.day}" for each in moments if each is not None)
    frame = _FRAME | stems(times) | stems(candidate.subject.text if candidate.subject.is_speaker else "")
    claimed = stems(f"{text} {'' if is_known else candidate.subject.text}") - frame
    return CandidateClaim(candidate, text, frozenset(claimed or stems(candidate.content) - frame), own, standing)


def _may_be_taken_up(claim: CandidateClaim, found: frozenset[str], source: OthersText) -> bool:
    """Return True if the user's own words may say of themselves what others' words hold."""
    if source.role is Role.ASSISTANT:
        return _refers_to_assistant(claim)
    if source.role is not Role.USER or is_naming(claim.candidate):
        return False
    if claim.standing is Standing.OWN and _takes_up_paste(claim):
        return True
    is_named = any(_CERTAIN.search(word) and stems(word) & found for word in _WORD.findall(claim.text))
    return not source.is_same_turn and not is_named and _is_told_by_quote(claim)


def _refers_to_assistant(claim: CandidateClaim) -> bool:
    """Return True if the user's words may take up what the assistant said: "I loved it there", after "Lisbon"."""
    if not _CERTAIN.search(claim.text):
        return bool(claim.said & claim.own)
    return any(_POINTS_BACK.search(clause) is not None and claim.said & stems(clause) for clause in claim.clauses)


def _takes_up_paste(claim: CandidateClaim) -> bool:
    """Return True if the quote says something of its speaker and a thing that was pasted: "I got that job".

    A clause that asks, or only announces a text ("I got this mail"), says nothing of the thing.
    """
    return any(
        in_first_person(clause)
        and _POINTS_AT_THING.search(clause) is not None
        and not announces(clause)
        and not clause.endswith("?")
        and claim.said & stems(clause)
        for clause in claim.clauses
    )


def _is_told_by_quote(claim: CandidateClaim) -> bool:
    """Return True if the quote itself may say what also stands in a text that was pasted in another turn.

    A statement is written in English: of a quote in another language only names and numbers can be compared, so it
    counts if it speaks of its speaker. An English one must hold most words of the statement.
    """
    if not is_english(claim.candidate.evidence):
        return in_first_person(claim.candidate.evidence)
    return 2 * len(claim.said & claim.own) > len(claim.said)
