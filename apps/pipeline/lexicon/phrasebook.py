"""Phrasebook: phrases by their first word, with their replacements."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

# By first word: the phrases that begin with it, the longest first, each with its words and its replacement.
Phrasebook = Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]

_WORD = re.compile(r"[^\W_]++(?:[-'’][^\W_]++)*['’]?", re.UNICODE)


def phrasebook(entries: Iterable[tuple[str, str]]) -> Phrasebook:
    """Build a phrasebook from lower-case phrases and their replacements; the first entry of a phrase counts."""
    found: dict[str, dict[tuple[str, ...], str]] = {}
    for phrase, replacement in entries:
        words = tuple(phrase.split())
        found.setdefault(words[0], {}).setdefault(words, replacement)
    return {first: tuple(sorted(each.items(), key=lambda pair: -len(pair[0]))) for first, each in found.items()}


def replace_phrases(text: str, book: Phrasebook) -> str:
    """Replace the phrases of a book in a sentence, the longest first; all other words stay as they are."""
    found = list(_WORD.finditer(text))
    folded = [each.group().casefold() for each in found]
    parts: list[str] = []
    place = end = 0
    while place < len(found):
        length, replacement = 1, found[place].group()
        for phrase, each in book.get(folded[place], ()):
            last = place + len(phrase)
            if tuple(folded[place:last]) == phrase and _is_unbroken(text, found[place:last]):
                length, replacement = len(phrase), each
                break
        parts += (text[end : found[place].start()], replacement)
        place += length
        end = found[place - 1].end()
    return re.sub(r" {2,}", " ", "".join(parts) + text[end:])


def _is_unbroken(text: str, words: list[re.Match[str]]) -> bool:
    """Return True if only white space separates the words."""
    return all(text[one.end() : two.start()].isspace() for one, two in pairwise(words))
