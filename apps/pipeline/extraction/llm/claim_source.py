"""Claims: which text holds what a candidate says of the user, where the user's own words don't."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import EntityType, Role
from apps.pipeline.core.statement import Candidate
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.language import is_english
from apps.pipeline.lexicon.word_stems import stems
from apps.pipeline.prompts.sections import ShownTurn
from apps.pipeline.provenance.orders import is_binding, is_naming
from apps.pipeline.provenance.own_words import announces, in_first_person, words_of
from apps.pipeline.provenance.spans import Standing, TurnWords

MOST_WORDS_OF_ASSENT = 4  # "Yes, please do that": words of an answer that takes an offer
_FRAME = stems(" ".join(("user", "assistant", "wants", "should", "always", "never", "agent", *EntityType)))
_QUESTION = re2.compile(r"[^.!?\n]{0,300}[.!]? ?[^.!?\n]{0,300}\?")
_CLAUSE = re.compile(r"[^.,;:!?…\n]+[.,;:!?…\n]?")
_POINTS_BACK = re.compile(
    r"(?i)\b(?:it|its|that|this|those|these|there|them|they|one|ones|both|he|him|she|her|here|first|second|last|es|das|dort|da|ça|là|ce)\b"
)
_POINTS_AT_THING = re.compile(r"(?i)\b(?:that|this|those|these|the|both|dies\w*|cet|cette|ce|ces) [^\W\d_]")
_CERTAIN = re.compile(r"[A-ZÀ-ÞΑ-ΩА-Я]|\d|@|://")  # the mark of a value that can't be a paraphrase: a name, a number
_WORD = re.compile(r"[^\W_]+")


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
    text: str  # its object; of a rule, or without an object, the whole sentence
    stems: frozenset[str]
    own: frozenset[str]  # stems of the user's own words
    standing: Standing  # whose words the quote is


def foreign_source(
    candidate: Candidate, *, turn: SourceTurn, words: TurnWords, turns: Sequence[ShownTurn], known: str
) -> str:
    """Return what holds the claim of a candidate if it is not the user's own words; "" if these do, or nothing does.

    `known` are the sentences and names that the prompt has shown: they support whatever sets no rule.
    """
    others = tuple(_others(words, turn, turns))
    if not others:
        return ""
    binds = is_binding(candidate)
    before = next((each.turn for each in turns if each.turn.position == turn.position - 1), None)
    own = (*_own_texts(words, turns), _accepted(before, turn, binds=binds), "" if binds else known)
    claim = _claim(candidate, own=frozenset(stems(" ".join(own))), standing=words.standing_of(candidate.evidence))
    for source in others:
        found = (claim.stems - claim.own) & stems(source.text)
        is_mostly_own = claim.stems & claim.own and 2 * len(found) <= len(claim.stems)
        if found and not is_mostly_own and (binds or not _may_be_taken_up(claim, found, source)):
            return f"its claim stands in others' words alone: {source.place}"
    return ""


def _claim(candidate: Candidate, *, own: frozenset[str], standing: Standing) -> CandidateClaim:
    """Read a claim; the numbers of a time that was computed from what was said are no words of anybody."""
    text = candidate.content if is_binding(candidate) else candidate.object.text or candidate.content
    speaker = candidate.subject.text if candidate.subject.is_speaker else ""
    frame = _FRAME | stems(speaker) | _told_times(candidate)
    claimed = stems(f"{text} {_named_subject(candidate)}") - frame or stems(candidate.content) - frame
    return CandidateClaim(candidate, text, frozenset(claimed), own, standing)


def _told_times(candidate: Candidate) -> set[str]:
    moments = (candidate.event_at, candidate.valid_from, candidate.valid_until)
    return stems(" ".join(f"{each:%Y %m %d %B} {each.month} {each.day}" for each in moments if each is not None))


def _named_subject(candidate: Candidate) -> str:
    """Return a subject that the claim is about, unless it is the speaker or a known entity."""
    is_known = candidate.subject.is_speaker or candidate.subject.entity_id is not None
    return "" if is_known else candidate.subject.text


def _may_be_taken_up(claim: CandidateClaim, found: frozenset[str], source: OthersText) -> bool:
    """Return True if the user's own words may say of themselves what others' words hold."""
    if source.role is Role.ASSISTANT:
        return _refers_to_assistant(claim)
    if source.role is not Role.USER or is_naming(claim.candidate):
        return False
    if claim.standing is Standing.OWN and _takes_up_paste(claim):
        return True
    return not source.is_same_turn and not _names_any(claim.text, found) and _is_told_by_quote(claim)


def _refers_to_assistant(claim: CandidateClaim) -> bool:
    """Return True if the user's words may take up what the assistant said: "I loved it there", after "Lisbon"."""
    said = _said(claim.candidate)
    if not _CERTAIN.search(claim.text):
        return bool(said & claim.own)
    clauses = _CLAUSE.findall(claim.candidate.evidence)
    return any(_POINTS_BACK.search(clause) is not None and said & stems(clause) for clause in clauses)


def _takes_up_paste(claim: CandidateClaim) -> bool:
    """Return True if the quote says something of its speaker and a thing that was pasted: "I got that job".

    A clause that asks, or only announces a text ("I got this mail"), says nothing of the thing.
    """
    said = _said(claim.candidate)
    clauses = _CLAUSE.findall(claim.candidate.evidence)
    return any(
        in_first_person(clause)
        and _POINTS_AT_THING.search(clause) is not None
        and not announces(clause)
        and not clause.endswith("?")
        and said & stems(clause)
        for clause in clauses
    )


def _is_told_by_quote(claim: CandidateClaim) -> bool:
    """Return True if the quote itself may say what also stands in a text that was pasted in another turn.

    A statement is written in English: of a quote in another language only names and numbers can be compared, so it
    counts if it speaks of its speaker. An English one must hold most words of the statement.
    """
    quote, said = claim.candidate.evidence, _said(claim.candidate)
    if not is_english(quote):
        return in_first_person(quote)
    return 2 * len(said & claim.own) > len(said)


def _names_any(text: str, found: frozenset[str]) -> bool:
    """Return True if some stems stand for a name or number of a text."""
    return any(_CERTAIN.search(word) and stems(word) & found for word in _WORD.findall(text))


def _said(candidate: Candidate) -> set[str]:
    """Return the stems of what a candidate says, apart from whom it is about."""
    return stems(candidate.content) - stems(candidate.subject.text) - _FRAME


def _own_texts(words: TurnWords, turns: Sequence[ShownTurn]) -> Iterator[str]:
    yield from words.segments()
    for shown in turns:
        if shown.turn.role is Role.USER and shown.turn.content != words.text:
            yield from words_of(shown.turn).segments()


def _accepted(before: SourceTurn | None, turn: SourceTurn, *, binds: bool) -> str:
    """Return the question of the assistant that a turn answers; only a short answer takes an offer that binds."""
    if before is None or before.role is not Role.ASSISTANT:
        return ""
    first, *_ = _CLAUSE.findall(turn.content.strip()) or [""]
    if binds and len(first.split()) > MOST_WORDS_OF_ASSENT:
        return ""
    return " ".join(found.group() for found in _QUESTION.finditer(before.content))


def _others(words: TurnWords, turn: SourceTurn, turns: Sequence[ShownTurn]) -> Iterator[OthersText]:
    """Yield others' words: the turn's own pastes, those of other turns, and what other roles say."""
    for text in words.foreign_texts():
        yield OthersText(text, is_same_turn=True)
    for shown in turns:
        if shown.turn.role is not Role.USER:
            yield OthersText(shown.turn.content, role=shown.turn.role)
        elif shown.turn.id != turn.id:
            yield from map(OthersText, words_of(shown.turn).foreign_texts())
