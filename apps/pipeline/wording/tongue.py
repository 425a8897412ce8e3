"""A tongue: what its closed words and turns of phrase are in English, so that one set of rules reads them all."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

# A phrase by its first word: the words that it has and what they say, longest first.
Phrasebook = Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]

_ELISION = re.compile(r"\b([ldnscjmt]|qu|dell|all|nell|sull|dall|un|jusqu)'(?=\w)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*['’]?", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Tongue:
    """The words of a language by their English ones; `stemmer` names Snowball's algorithm."""

    name: str
    stemmer: str
    book: Phrasebook
    words: frozenset[str]
    elides: bool = False  # "l'achat" is two words
    brackets: re.Pattern[str] | None = None  # what a negation of two parts has between them: "ne fume plus"


def tongue(*, name: str, stemmer: str, table: str, elides: bool = False, brackets: str = "") -> Tongue:
    """Read a table of lines "english words: foreign | turn of phrase | …"; before the colon nothing means small."""
    pairs = list(entries(split_elisions(table) if elides else table))
    return Tongue(
        name=name,
        stemmer=stemmer,
        book=phrasebook(pairs),
        words=frozenset(word for words, _ in pairs for word in words),
        elides=elides,
        brackets=re.compile(brackets, re.IGNORECASE) if brackets else None,
    )


def split_elisions(text: str) -> str:
    """Write "l'achat" as two words."""
    return _ELISION.sub(r"\1' ", text)


def entries(table: str) -> Iterable[tuple[tuple[str, ...], str]]:
    """Yield each phrase of a table as its words, with what it says."""
    for line in table.strip().splitlines():
        said, _, phrases = line.partition(":")
        for phrase in phrases.split("|"):
            if phrase.strip():
                yield tuple(phrase.casefold().split()), said.strip()


def phrasebook(pairs: Iterable[tuple[tuple[str, ...], str]]) -> Phrasebook:
    """Order phrases by their first word, the longest first."""
    found: dict[str, dict[tuple[str, ...], str]] = {}
    for words, said in pairs:
        found.setdefault(words[0], {}).setdefault(words, said)
    return {first: tuple(sorted(each.items(), key=lambda pair: -len(pair[0]))) for first, each in found.items()}


def said_by(book: Phrasebook, text: str) -> str:
    """Replace every phrase of a book by what it says, the longest first; names and all other words stay."""
    found = list(_WORD.finditer(text))
    folded = [each.group().casefold() for each in found]
    parts: list[str] = []
    place = end = 0
    while place < len(found):
        phrase, said = _at(book, folded, place, text, found)
        parts.append(text[end : found[place].start()])
        parts.append(said if phrase else found[place].group())
        place += phrase or 1
        end = found[place - 1].end()
    return re.sub(r" {2,}", " ", "".join(parts) + text[end:])


def _at(book: Phrasebook, words: list[str], place: int, text: str, found: list[re.Match[str]]) -> tuple[int, str]:
    for phrase, said in book.get(words[place], ()):
        last = place + len(phrase)
        if tuple(words[place:last]) == phrase and _unbroken(text, found[place:last]):
            return len(phrase), said
    return 0, ""


def _unbroken(text: str, words: list[re.Match[str]]) -> bool:
    """Tell whether nothing but white space is between words."""
    return all(text[one.end() : two.start()].isspace() for one, two in pairwise(words))
