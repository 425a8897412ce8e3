"""Pattern: one typed row, and the memory that a match becomes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

import re2

from apps.pipeline.core.enums import EntityType, MemoryType, Polarity, SourceConfidence


class PatternMatch(Protocol):
    """The part of a regular expression match that is used here."""

    def group(self, name: str, /) -> str | None:
        """Return the text of a named group."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A typed row: the words after one of `verbs` in a third-person phrase, and the resulting memory.

    `expression` (RE2, whole phrase, case-insensitive) names its object `object`; other groups may be used in
    `predicate` and `content`. Without `content` the phrase is kept as it was said.
    """

    name: str
    type: MemoryType
    predicate: str
    expression: str
    verbs: tuple[str, ...] = ()
    content: str = ""
    entity: EntityType | None = None  # what the object is, where it is an entity
    polarity: Polarity = Polarity.POSITIVE
    source: SourceConfidence = SourceConfidence.DIRECT
    topic: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    adjustment: float = 0.0
    ends: str = ""  # further words that end the object, as an RE2 alternation
    unless: str = ""  # an object that begins like this is not meant (RE2)
    keeps: str = ""  # what the object may not lose when it is cut at a comma (RE2)
    max_words: int = 12  # of the object
    only_speaker: bool = False
    only_negated: bool = False
    is_single: bool = False  # one value at a time, though its predicate is not known to be
    is_list: bool = False  # the object may be several: "nuts, soy and eggs"
    values: Mapping[str, str] = field(default_factory=dict)  # objects that are stored under another name

    def evolved(self, *, predicate: str) -> "Pattern":
        """Return the row with another predicate, for rows whose predicate depends on the words."""
        return replace(self, predicate=predicate)

    @property
    def compiled(self) -> "re2._Regexp[str]":
        """Return the compiled expression."""
        return _compile(self.expression)

    def may_speak_of(self, *, about_speaker: bool, is_negated: bool) -> bool:
        """Return True if the row applies to a statement."""
        return (about_speaker or not self.only_speaker) and (is_negated or not self.only_negated)

    def refuses(self, text: str) -> bool:
        """Return True if the row excludes an object."""
        return bool(self.unless) and _compile_start(self.unless).match(text) is not None

    def loses_sense(self, text: str) -> bool:
        """Return True if an object lacks what makes the row true: a routine without its regular time."""
        return bool(self.keeps) and _compile_within(self.keeps).search(text) is None

    @property
    def object_end(self) -> "re2._Regexp[str]":
        """Return the end of an object of this pattern."""
        return _compile_end(self.ends)


@lru_cache(maxsize=1024)
def _compile(expression: str) -> "re2._Regexp[str]":
    return re2.compile(f"(?is)^(?:{expression})$")


@lru_cache(maxsize=256)
def _compile_start(unless: str) -> "re2._Regexp[str]":
    return re2.compile(f"(?i)^(?:{unless})")


@lru_cache(maxsize=64)
def _compile_within(text: str) -> "re2._Regexp[str]":
    return re2.compile(f"(?i){text}")


_COMMAS = r"[,:](?:\D|$)|"
_OBJECT_ENDS = (
    r"[;!?(…]|[,:](?:\D|$)|\s[-–—]|\s(?:but|because|cause|cuz|so|when|whenever|while (?:i|we|my|the|it|he|she|they)|though|although|unless|until|if|and then|since (?:i|we|my|it|he|she|they|the|then)|which|who|where"
    r"|that (?:i|is|was|has)|even though|just in case|as well|lol|haha|and (?:i|it|it's|that|we|he|she|they|so|also|now|would|want|need|was|is|am|can|have)|or so|(?:they|it|that) (?:makes?|made|gives?|gave|sets?|upsets?|destroys?|kills?|brings?)|(?:she|he|they) (?:said|says|reckons?|told me))(?:[^\p{L}\p{N}_]|$)|\stoo(?:[,.!?]|$)"
)


@lru_cache(maxsize=256)
def _compile_end(more: str) -> "re2._Regexp[str]":
    return re2.compile(f"(?i){_OBJECT_ENDS}" + (f"|\\s(?:{more})(?:[^\\p{{L}}\\p{{N}}_]|$)" if more else ""))


@lru_cache(maxsize=1)
def _compile_end_behind_commas() -> "re2._Regexp[str]":
    return re2.compile(f"(?i){_OBJECT_ENDS.replace(_COMMAS, '')}")


# Up to three words each, of which none opens another clause: "nuts, soy milk and eggs".
_ITEM = r"[\w'’-]+(?: [\w'’-]+){0,2}?"
_LIST = re2.compile(
    rf"(?i)^(?P<list>{_ITEM}(?:, {_ITEM}){{1,8}},? (?:and|or|&) {_ITEM})"
    r"(?:[.!;,(]|$| (?:but|so|because|and|which|at|in|too|as well|though|since|if|when|these|any ?more)\b)"
)
_TRAILING = re2.compile(
    r"(?i)(?:[\s.,!]+(?:now|currently|again|already|anymore|these days|nowadays|at the moment|right now|actually|really|though|too|as well|lol|haha|btw"
    r"|by the way|anyway|a lot|so much|very much|for sure|you know|and all|and stuff|tbh|myself|mostly|usually|atm|rn|with (?:a passion|all my heart)|please|ever|instead|or something|and|but|or|because|since))+[\s.!]*$|[\s.,!~*]+$"
)
# That something is so again ends what was said since.
_AGAIN = re2.compile(r"(?i)^ again\b")
_ARTICLE = re2.compile(r"(?i)^(?:a|an|the|some|any)\s+")


def trim_object(text: str, *, pattern: Pattern) -> str:
    """Cut an object at the end of its clause and remove trailing adverbs; "" if it is too long."""
    listed = _LIST.match(text) if pattern.is_list else None
    if listed is not None and len(listed.group("list").split()) <= pattern.max_words:
        return str(listed.group("list"))
    trimmed = _trimmed(text, end=pattern.object_end)
    if pattern.loses_sense(trimmed):
        trimmed = _trimmed(text, end=_compile_end_behind_commas())
    return trimmed if 0 < len(trimmed.split()) <= pattern.max_words else ""


def trim_clause(text: str) -> str:
    """Cut what follows an object at the end of the clause: "married in June, which…" → "married in June"."""
    trimmed = _trimmed(text, end=_compile_end(""))
    return f"{trimmed} again" if _AGAIN.match(text[len(trimmed) :]) else trimmed


def _trimmed(text: str, *, end: "re2._Regexp[str]") -> str:
    found = end.search(text, 1)
    kept: str = _TRAILING.sub("", text[: found.start()] if found else text)
    kept = kept.strip(" '*_`.,!?-")
    return kept.strip('" ') if kept.count('"') % 2 else kept


def without_article(text: str) -> str:
    """Return an object without its article, for comparisons."""
    bare: str = _ARTICLE.sub("", text)
    return bare or text
