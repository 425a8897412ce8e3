"""Notes: what a user said on a day, in their own words, where a message is worth one.

A note claims nothing but that it was said. At most one is taken from a message.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time

import re2

from apps.pipeline.core.enums import NOTE, Grounding, MemoryType, Precision, SpeechAct
from apps.pipeline.core.placeholders import names_redacted_secret
from apps.pipeline.core.statement import NOTE_EXTRACTOR, Candidate, Mention, ObjectValue
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain import gate
from apps.pipeline.extraction.plain.own_sentences import GAP
from apps.pipeline.language.speech_act import goes_on_mocking, speech_act_of
from apps.pipeline.provenance.own_words import without_label

SAID = "said"  # the predicate
LEAST_SCORE = 0.7
MOST_CHARACTERS = 600
_SURE = 1.0
_NOT_AT_HIGH_STAKES = -0.15  # leaves a confidence of 0.65: told at normal stakes, not where 0.7 is asked for
_IMPORTANCE, _ASKED_FOR_IMPORTANCE = 0.3, 0.6  # a note fades, unless it was asked for
_TO_REMEMBER = re2.compile(
    r"(?i)^(?:(?:please|pls|hey|hi|ok|okay|and|also|so|oh|btw),? )*(?:(?:can|could|would|will) you (?:please |also )*)?"
    r"(?:remember|keep in mind|bear in mind|note(?: down)?|make a (?:mental )?note|don['’]?t forget|do not forget)"
    r"(?: this| for (?:me|later|next time))?(?: that |: |, )(?P<what>.+)"
)
_REMINISCES = re2.compile(r"(?i)^(?:time|times|day|night|summer|winter|year|one|guy|film|movie|song|show)\b")
# "If I get a rash, I have to call" is true; "if I had a rash, I would call" is not.
_PAST = r"(?:were|was|had|could|\w+ed)"
_UNREAL = re2.compile(
    rf"(?i)\bif only\b|\bif (?:i|we) {_PAST}\b.*\b(?:would|could|might|(?:i|we)'d)\b"
    rf"|\b(?:(?:i|we) would|(?:i|we)'d)\b.*\bif (?:i|we) {_PAST}\b|\b(?:i wish|wish i|as if i)\b"
)
# What takes back the sentence before it: "I'm off gluten as well. JOKE."
_TAKES_BACK = re2.compile(
    r"(?i)^\W*(?:(?:it's |that's |that was |only )?(?:a )?jok(?:e|ing)|(?:just |only |i'm )?kidding|jk)\b"
    r"|^\W*(?:not really|i wish|as if)\W*$|🙄"
)

Scorer = Callable[[str, str], float]


def sentence_scores(sentences: Sequence[str], *, question: str, scorer: Scorer = gate.score) -> tuple[float, ...]:
    """Return the score of each sentence of a message: 1 where it asks to be remembered, 0 where it is not meant.

    The first sentence is the one that answers the question.
    """
    return tuple(
        0.0
        if not is_meant
        else _SURE
        if asks_to_remember(each)
        else scorer(without_label(each), "" if place else question)
        for place, (each, is_meant) in enumerate(zip(sentences, meant(sentences), strict=True))
    )


def meant(sentences: Sequence[str]) -> tuple[bool, ...]:
    """Return for each sentence whether its speaker means it: no joke, nothing imagined, no secret."""
    before, after = ["", *sentences][:-1], [*sentences, ""][1:]
    return tuple(
        speech_act_of(each) is SpeechAct.ASSERTED
        and not (_UNREAL.search(each.replace("’", "'")) or names_redacted_secret(each))
        and not (goes_on_mocking(each, before=last) or _TAKES_BACK.search(each) or _TAKES_BACK.search(following))
        for each, last, following in zip(sentences, before, after, strict=True)
    )


def asks_to_remember(sentence: str) -> bool:
    """Return True for "remember that …"; "remember that summer?" only reminisces."""
    asked = _TO_REMEMBER.match(sentence)
    return asked is not None and not sentence.endswith("?") and not _REMINISCES.match(asked.group("what"))


def note_of(
    turn: SourceTurn,
    sentences: Sequence[str],
    scores: Sequence[float],
    *,
    question: str,
    speaker: Mention,
    reliability: float,
) -> Candidate:
    """Build the note of a message from those of its sentences that are meant, behind the question that they answer."""
    asked = f"asked: {question} said: " if question and not sentences[0].endswith("?") else ""
    most = MOST_CHARACTERS - len(asked)
    # If they are too long, the best of them; each other one leaves a gap.
    left = most
    places: set[int] = set()
    for place in sorted(range(len(sentences)), key=lambda place: (-scores[place], place)):
        if scores[place] and (not places or len(sentences[place]) < left):
            places.add(place)
            left -= len(sentences[place]) + len(f" {GAP} ")
    chosen = [each if place in places else GAP for place, each in enumerate(sentences)]
    words = _joined(chosen, most=most)
    return Candidate(
        index=0,
        type=MemoryType.EVENT,
        subject=speaker,
        predicate=SAID,
        object=ObjectValue(literal=f"{asked}{words}"),
        content=f"{speaker.text}, {asked}{words}" if asked else f"{speaker.text} said: {words}",
        event_at=datetime.combine(turn.local_time.date(), time(), UTC),  # days are stored as midnight
        event_precision=Precision.DAY,
        source_turn_ids=(turn.id,),
        evidence=_joined(chosen, between=f" {GAP} ", most=most),  # others' words may have stood between two sentences
        tags=(NOTE,),
        grounding=Grounding.SUPPORTED,
        adjustment=_NOT_AT_HIGH_STAKES,
        importance=_ASKED_FOR_IMPORTANCE if _SURE in scores else _IMPORTANCE,
        reliability=reliability,
        extractor=NOTE_EXTRACTOR,
    )


def _joined(parts: Sequence[str], *, between: str = " ", most: int) -> str:
    """Join sentences, with one sign for each gap within them and none around them."""
    words = between.join(parts)
    while (fewer := words.replace(f"{GAP} {GAP}", GAP)) != words:
        words = fewer
    words = words.strip(f" {GAP}")
    return words if len(words) <= most else words[:most].rpartition(" ")[0] or words[:most]
