"""Ends of sentences, which are not at abbreviations, initials, decimals or versions."""

import re
from collections.abc import Iterator

from apps.pipeline.language import abbreviations

_EMOJI = r"\U0001F300-\U0001FAFF\u2600-\u27BF\uFE0F"
# Each run of signs is tried from its first sign only.
_END = re.compile(
    rf"(?<=[^\s.!?…])[ \u00a0\u202f]?[!?]++(?=\s|$)|(?<=[^\s.!?…])[.!?…]++[)\"”']*+(?=\s|$)|(?<=[^\s.!?…{_EMOJI}])[{_EMOJI}]++(?=\s|$)|\n+|(?<=[a-z][.!?])(?=[A-Z])"
)
_LONGEST_WORD = 20  # of an abbreviation and the word before it


def sentence_ends(prose: str) -> Iterator[int]:
    """Yield the positions at which sentences end, except the end of the text."""
    for end in _END.finditer(prose):
        if end.group() != "." or not _is_abbreviation(prose, end.start()):
            yield end.end()


def _is_abbreviation(prose: str, dot: int) -> bool:
    """Return True if the full stop at `dot` belongs to the word before it and the sentence continues."""
    before = prose[max(0, dot - 2 * _LONGEST_WORD) : dot].split()
    after = prose[dot + 1 : dot + 1 + _LONGEST_WORD].split()
    if not before or not after or "\n" in prose[dot + 1 : dot + 3]:
        return False
    word, following = before[-1].lstrip("(\"'“").casefold(), after[0].strip("(\"'“,.!?")
    if word in abbreviations.WITHIN or word in abbreviations.BEFORE_NAMES:
        return True
    if word.isdigit() and len(word) < 3:
        return following.casefold() in abbreviations.MONTHS_AFTER_DAY or following[:1].islower()
    if word in abbreviations.BEFORE_NUMBERS:
        return following[:1].isdigit()
    if word in abbreviations.LAST_OR_WITHIN:
        return following[:1].islower() or following[:1].isdigit()
    return _is_initial(before, following)


def _is_initial(before: list[str], following: str) -> bool:
    """Read "J. Hartley" and "John F. Doe", but neither "so do I. We" nor "vitamin D. It"."""
    letter = before[-1].lstrip("(\"'“")
    if len(letter) != 1 or not letter.isupper() or letter == "I":
        return False
    follows_name = len(before) == 1 or before[-2][:1].isupper()
    is_name = following[:1].isupper() and following.casefold() not in abbreviations.SENTENCE_STARTS
    return follows_name and is_name
