"""The sentences of a user's turn, with their places, that are the user's own words."""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import re2

from apps.pipeline.core.plain_letters import plain_letters
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.lexicon.personal_data import with_common_names
from apps.pipeline.lexicon.tables import SMALL
from apps.pipeline.lexicon.word_stems import stem
from apps.pipeline.provenance.own_words import HIDDEN, words_of

_SENTENCE = re2.compile(r"[^.!?\n]+(?:\.\w[^.!?\n]*)*[.!?]*")
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
WORDS = {
    name: "|".join(rows.values())
    for name, rows in tomllib.loads(Path(__file__).with_name("asked_words.toml").read_text(encoding="utf-8")).items()
}
_MEANS_NOTHING = frozenset(map(plain_letters, SMALL)) | frozenset(WORDS["means_nothing"].split("|"))


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
