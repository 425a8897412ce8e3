"""The sentences of a user's turn, with their places, that are the user's own words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import re2

from apps.pipeline.core.plain_letters import plain_letters
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.function_words import SMALL
from apps.pipeline.lexicon.personal_data import with_common_names
from apps.pipeline.lexicon.verbs import stem
from apps.pipeline.provenance.own_words import HIDDEN, words_of

_SENTENCE = re2.compile(r"[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]*")
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
_MEANS_NOTHING = frozenset(map(plain_letters, SMALL)) | frozenset(
    "my our me mine about fact everything anything told said know where but please pls thanks thank you anywhere"
    " actually "
    "name called number thing things stuff down though just "
    "ich mich mir mein meine meinen meiner meinem dass habe hab bin ist bei heist aber bitte danke das der die den"
    " dem ein "
    "eine einen uber von und unser unsere wir als in "
    "je moi mon ma mes que suis ai est sur le la les un une de du des et mais merci sil te plait stp svp notre"
    " nos "
    "chez dans appelle elle il en pas".split()
)


@dataclass(frozen=True, slots=True)
class AskedSentence:
    """A sentence at a place of its turn, and its words with those of others hidden."""

    start: int
    end: int
    text: str
    prose: str

    def is_own(self, start: int = 0, end: int | None = None) -> bool:
        """Return True if the speaker says the sentence, or a part of it, as themselves."""
        return HIDDEN not in self.prose[start:end]


def asked_sentences(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> Iterator[AskedSentence]:
    """Yield the sentences of a turn; after pasted text without an end, all words may be others'."""
    before = [each for each in earlier if (each.role, each.speaker) == (turn.role, turn.speaker)]
    words = words_of(turn, earlier=before)
    for found in _SENTENCE.finditer(turn.content[:most]):
        start, end = found.start(), found.end()
        said: str = found.group()
        if not _WORD.search(said):
            continue
        left = len(said) - len(said.lstrip())
        own = words.prose[start:end] if end <= words.resumes_at else HIDDEN * len(said)
        yield AskedSentence(start, end, said.strip(), own[left:])


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that mean something."""
    return frozenset(stem(word) for word in _WORD.findall(with_common_names(text)) if word not in _MEANS_NOTHING)
