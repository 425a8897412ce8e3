"""Self-corrections: "I meant Lyon, not Paris" repeats the statement about Paris with Lyon."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from apps.pipeline.extraction.patterns.sentences import Sentence

_OPENER = r"(?:no|nope|sorry|oops|wait|actually|correction|well|oh|ah|my bad|my mistake|i mean)\b"
_LEAD = r"(?:i (?:meant|should have said)(?: to say)?|it(?:'s| is| was|'ll be| will be)|that(?:'s| is| was)|make (?:that|it))\b"
_AMENDS = re.compile(
    rf"^(?P<front>(?:(?:{_OPENER}|{_LEAD})[\s,.!:;–—-]*+)+)(?P<right>\w[^,;:.!?]{{0,40}}?)\s*,?\s+"
    r"(?:and |but )?(?:not|instead of)\s+(?P<wrong>[^,;:.!?]{1,40}?)[\s.!]*$",
    re.IGNORECASE,
)
# "It's mild, not spicy" may be about a soup: without these words, only names and numbers are corrected.
_EXPLICIT = re.compile(r"\b(?:sorry|oops|actually|correction|my bad|my mistake|mean|meant|said|make)\b", re.I)
_NAMED = re.compile(r"\d|[A-ZÀ-Þ]")
# A complete sentence needs no earlier one: "No, I live in Lyon, not Paris".
_SPEAKS = re.compile(
    r"^(?:i|we|my|our|he|she|they|her|his|their|its)\b|\b(?:is|are|am|was|were|has|have|do|does|did)\b|'(?:s|m|re|ve) ",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|an?) ", re.IGNORECASE)


_NAME = r"[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)?"
_NAMES = re.compile(
    rf"(?i:\b(?:(?:her|his|their|its|\w+['’]s) name(?:['’]s| is| was)|(?:she|he)(?:['’]s| is)(?: \w+)? (?:called|named)))"
    rf"(?i: actually| really)? (?P<right>{_NAME}),? (?:and )?not (?P<wrong>{_NAME})"
)


@dataclass(frozen=True, slots=True)
class Misnomer:
    """A wrong name, and the right one."""

    right: str
    wrong: str


def misnomer_in(sentence: Sentence) -> Misnomer | None:
    """Parse "her name is Anna, not Anne"."""
    found = _NAMES.search(sentence.text) if " not " in sentence.text and not sentence.asks else None
    return Misnomer(right=found["right"], wrong=found["wrong"]) if found else None


@dataclass(frozen=True, slots=True)
class _Amendment:
    right: str
    wrong: str


def amended(sentence: Sentence, *, earlier: Iterable[Sentence]) -> Sentence | None:
    """Return the first earlier sentence with the wrong words, with the right ones in their place.

    `earlier` are the same speaker's, latest first.
    """
    amendment = _amendment(sentence)
    if amendment is None:
        return None
    told = (_replaced(each, amendment) for each in earlier if not each.asks)
    return next((each for each in told if each is not None), None)


def _amendment(sentence: Sentence) -> _Amendment | None:
    if not any(word in sentence.text.lower() for word in ("not ", "instead of ")):
        return None
    found = _AMENDS.match(sentence.text.replace("’", "'"))
    if found is None or sentence.asks or _SPEAKS.search(found["right"]):
        return None
    values = (found["right"], found["wrong"])
    if not _EXPLICIT.search(found["front"]) and not all(map(_NAMED.search, values)):
        return None
    return _Amendment(*values)


def _replaced(sentence: Sentence, amendment: _Amendment) -> Sentence | None:
    """Replace whole words, with their article if the sentence has one."""
    pairs = (
        (amendment.wrong, amendment.right),
        (_ARTICLE.sub("", amendment.wrong), _ARTICLE.sub("", amendment.right)),
    )
    for wrong, right in pairs:
        place = re.search(rf"(?<!\w){re.escape(wrong)}(?!\w)", sentence.text, re.IGNORECASE)
        if place:
            text = sentence.text[: place.start()] + right + sentence.text[place.end() :]
            return Sentence(text=text, asks=False)
    return None
