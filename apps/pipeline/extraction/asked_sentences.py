"""The sentences of a user's turn, with their places, that are the user's own words."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import re2

from apps.pipeline.core.plain_letters import plain_letters
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.extraction.plain.own_sentences import own_words
from apps.pipeline.extraction.wishes import Wishes, wishes_in, words_of
from apps.pipeline.lexicon.personal_data import with_common_names
from apps.pipeline.lexicon.tables import SMALL
from apps.pipeline.lexicon.word_stems import stem
from apps.pipeline.provenance.own_words import HIDDEN

_SENTENCE = re2.compile(r"[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]*")
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
_WORDS = tomllib.loads(Path(__file__).with_name("asked_words.toml").read_text(encoding="utf-8"))
_OF_ASKING, _OF_TELLING = (frozenset(" ".join(_WORDS[kind].values()).split()) for kind in ("of_asking", "of_telling"))
_MEANS_NOTHING = frozenset(map(plain_letters, SMALL)) | _OF_ASKING | _OF_TELLING
_FIRST_PERSON = frozenset(
    "i my our we im ich mein meine meinen meiner wir unser unsere je j mon ma mes nous notre nos yo mi mis".split()
)


@dataclass(frozen=True, slots=True)
class AskedSentence:
    """A sentence at a place of its turn, its words with those of others hidden, and what it asks."""

    start: int
    end: int
    text: str
    prose: str
    wishes: Wishes

    def is_own(self, start: int = 0, end: int | None = None) -> bool:
        """Return True if the speaker says the sentence, or a part of it, as themselves."""
        return HIDDEN not in self.prose[start:end]


def asked_sentences(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> Iterator[AskedSentence]:
    """Yield the sentences of the first `most` characters; after pasted text without an end, all may be others'."""
    own = own_words(turn, before=earlier, most=most)
    for found in _SENTENCE.finditer(own.text):
        start, end = found.start(), found.end()
        said: str = found.group()
        if not _WORD.search(said):
            continue
        left = len(said) - len(said.lstrip())
        prose = own.prose[start:end] if end <= own.resumes_at else HIDDEN * len(said)
        yield AskedSentence(start, end, said.strip(), prose[left:], wishes_in(said))


def content_words(text: str) -> frozenset[str]:
    """Return the stems of the words of a text that name something."""
    return frozenset(stem(word) for word in _WORD.findall(with_common_names(text)) if word not in _MEANS_NOTHING)


def claims(text: str) -> bool:
    """Return True if a sentence with a wish also says something of the user: "I" of "I don't want" does not count."""
    words = words_of(text)
    followed = zip(words, [*words[1:], ""], strict=True)
    is_own = any(word.partition("'")[0] in _FIRST_PERSON and after not in _OF_ASKING for word, after in followed)
    return is_own and bool(content_words(text))
