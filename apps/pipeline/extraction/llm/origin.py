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
from apps.pipeline.extraction.llm.evidence import before, is_negated
from apps.pipeline.extraction.windows import CandidateRefusal
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
_ANOTHER_TURN = "another turn"


def settle_origin(
    candidate: Candidate, *, turn: SourceTurn, turns: Sequence[ShownTurn], known: str
) -> Candidate | CandidateRefusal:
    """Return a candidate with the consequences of its origin, or its refusal.

    A statement in others' words is at most reported: it replaces, repeats and contradicts nothing. Instructions to the
    agent and names are refused. `known` are the sentences and names that the prompt has shown: they support whatever
    sets no rule.
    """
    words = words_of(turn, earlier=[each.turn for each in turns if each.turn.position < turn.position])
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


def _foreign_source(
    candidate: Candidate, *, turn: SourceTurn, words: TurnWords, turns: Sequence[ShownTurn], known: str
) -> str:
    """Return what holds the claim of a candidate if it is not the user's own words; "" if these do, or nothing does.

    The user may take up what the assistant said: "I loved it there", after "Lisbon". What another turn's paste holds
    casts no doubt on a quote that says it itself, unless it is a name or a number.
    """
    others = tuple(_others(words, turn, turns))
    if not others:
        return ""
    binds, names = is_binding(candidate), is_naming(candidate)
    accepted = _accepted(before(turn, turns), turn, binds=binds, names=names)
    users = (each.turn for each in turns if each.turn.role is Role.USER and each.turn.content != words.text)
    own_texts = [*words.segments(), *(part for each in users for part in words_of(each).segments())]
    own = stems(" ".join((*own_texts, accepted, "" if binds else known)))
    text = candidate.content if binds else candidate.object.text or candidate.content
    claimed = _claimed(candidate, text)
    said = stems(candidate.content) - stems(candidate.subject.text) - _FRAME
    clauses = _CLAUSE.findall(candidate.evidence)
    for role, place, content in others:
        found = (claimed - own) & stems(content)
        is_mostly_own = claimed & own and 2 * len(found) <= len(claimed)
        if not found or is_mostly_own:
            continue
        may_be_own = False
        if role is Role.ASSISTANT:
            points_back = any(_POINTS_BACK.search(each) and said & stems(each) for each in clauses)
            may_be_own = points_back if _CERTAIN.search(text) else bool(said & own)
        elif role is Role.USER and not names:
            is_named = any(_CERTAIN.search(word) and stems(word) & found for word in _WORD.findall(text))
            # The statement is in English: of a quote in another language only names and numbers can be compared.
            is_told = (
                2 * len(said & own) > len(said)
                if is_english(candidate.evidence)
                else in_first_person(candidate.evidence)
            )
            may_be_own = place == _ANOTHER_TURN and is_told and not is_named
            # A clause may say something of its speaker and a thing that was pasted: "I got that job".
            takes_up_paste = any(
                in_first_person(each) and _POINTS_AT_THING.search(each) and said & stems(each)
                for each in clauses
                if not (announces(each) or each.endswith("?"))
            )
            may_be_own |= takes_up_paste and words.standing_of(candidate.evidence) is Standing.OWN
        if binds or not may_be_own:
            return f"its claim stands in others' words alone: {place}"
    return ""


def _others(words: TurnWords, turn: SourceTurn, turns: Sequence[ShownTurn]) -> Iterator[tuple[Role, str, str]]:
    """Yield others' words with their role and place: pastes of this turn and of others, and what other roles say."""
    for text in words.foreign_texts():
        yield Role.USER, "the same turn", text
    for shown in turns:
        if shown.turn.role is not Role.USER:
            yield shown.turn.role, f"a turn of the {shown.turn.role}", shown.turn.content
        elif shown.turn.id != turn.id:
            yield from ((Role.USER, _ANOTHER_TURN, text) for text in words_of(shown.turn).foreign_texts())


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


def _claimed(candidate: Candidate, text: str) -> set[str]:
    """Return the stems of a claim; a known subject and a computed time are no words of anybody."""
    is_known = candidate.subject.is_speaker or candidate.subject.entity_id is not None
    moments = (candidate.event_at, candidate.valid_from, candidate.valid_until)
    times = " ".join(f"{each:%Y %m %d %B} {each.month} {each.day}" for each in moments if each is not None)
    frame = _FRAME | stems(times) | stems(candidate.subject.text if candidate.subject.is_speaker else "")
    claimed = stems(f"{text} {'' if is_known else candidate.subject.text}") - frame
    return set(claimed or stems(candidate.content) - frame)
