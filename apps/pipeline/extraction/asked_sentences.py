"""The sentences of a user's turn, with their places, that are the user's own words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.personal_data import english_word, with_common_names
from apps.pipeline.lexicon.verbs import stem
from apps.pipeline.provenance.own_words import words_of
from apps.pipeline.provenance.spans import Standing

_SENTENCE = re2.compile(r"[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]*")
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
_MEANS_NOTHING = SMALL | frozenset(
    "my our me mine about fact everything anything told said know where but please pls thanks thank you anywhere"
    " actually "
    "name called number thing things stuff down though just "
    "ich mich mir mein meine meinen meiner meinem dass habe hab bin ist bei heißt aber bitte danke das der die den"
    " dem ein "
    "eine einen über von und unser unsere wir als in "
    "je moi mon ma mes que suis ai est sur le la les un une de du des et mais merci sil te plaît stp svp plait notre"
    " nos "
    "chez dans appelle elle il en pas".split()
)


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """A sentence at a place of its turn."""

    start: int
    end: int
    text: str


def own_sentences_of(
    turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int
) -> Iterator[tuple[OwnSentence, bool]]:
    """Yield the sentences of a turn, each with whether it is in the speaker's own words."""
    before = [each for each in earlier if (each.role, each.speaker) == (turn.role, turn.speaker)]
    words = words_of(turn, earlier=before) if turn.role is Role.USER else None
    for found in _SENTENCE.finditer(turn.content[:most]):
        text = found.group().strip()
        if _WORD.search(text):
            is_own = words is not None and words.standing_of(text.strip(" .!?")) is Standing.OWN
            yield OwnSentence(found.start(), found.end(), text), is_own


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that mean something, in English where they are known data."""
    words = [english_word(word) for word in _WORD.findall(with_common_names(text).lower())]
    return frozenset(stem(word) for word in words if word not in _MEANS_NOTHING)
