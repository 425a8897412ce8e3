"""The table of plain statements: whole clauses that a pattern reads from the first to the last word, or nothing."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import re2

from apps.pipeline.core.enums import MemoryType, Polarity

_SLOT = re.compile(r"\{([A-Z_]{2,})\}")
_GROUP = re.compile(r"\(\?P<([a-z]+)>")
_RULE = "assistant"  # the topic of rules for the assistant
_MOST_CHARACTERS, _MOST_THING_WORDS = 200, 5  # of a sentence, and of a thing in it; longer ones are not plain
_NEXT_CLAUSE = re.compile(r"(?i)(?:,? (?:and|but|so)|[,;]) (?=(?:i|i'm|im|i've|we|we're|we've|my|our)\b)")
_OF_SPEAKER = re.compile(r"(?i)(?:i|i'm|im|i've|we|we're|we've|my|our)\b")
_EDGES = re.compile(r"^[^\w:;]+|[^\w)+#]+$")
_CONTRACTIONS = {
    "i'm": "I am", "im": "I am", "i've": "I have", "ive": "I have", "we're": "we are", "we've": "we have",
    "don't": "do not", "dont": "do not", "can't": "cannot", "cant": "cannot", "have got": "have",
    "i've got": "I have", "we've got": "we have",
}  # fmt: skip
_CONTRACTION = re.compile(rf"(?i)\b(?:{'|'.join(sorted(_CONTRACTIONS, key=len, reverse=True))})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table; table.toml explains the fields."""

    id: str
    pattern: "re2._Regexp[str]"
    predicate: str
    topic: str
    says: str
    confidence: float
    type: MemoryType = MemoryType.FACT
    subject: str = "speaker"
    object: str = "text"
    polarity: Polarity = Polarity.POSITIVE
    importance: float = 0.8
    tags: tuple[str, ...] = ()
    splits: bool = False
    refused: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RowMatch:
    """A row and what its groups hold in a clause."""

    row: Row
    groups: Mapping[str, str]

    def group(self, name: str) -> str:
        """Return what a group holds, or an empty text."""
        return self.groups.get(name, "")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence says by the table, and whether each of its clauses says something."""

    matches: tuple[RowMatch, ...] = ()
    is_whole: bool = False


def read(sentence: str) -> Reading:
    """Read a sentence of a user clause by clause."""
    text = " ".join(sentence.replace("’", "'").split())
    if len(text) > _MOST_CHARACTERS or _table().refused.search(text):
        return Reading()
    found = [_table().matches_of(forms) for forms in _clauses(text)]
    return Reading(tuple(match for each in found for match in each), is_whole=all(found))


def rule_tags(sentence: str) -> tuple[str, ...]:
    """Return the tags of the rules for the assistant that a sentence gives: convention, constraint and others."""
    return tuple(tag for match in read(sentence).matches if match.row.topic == _RULE for tag in match.row.tags)


def _clauses(text: str) -> list[tuple[str, ...]]:
    """Return the clauses of a sentence, the first with and without its greeting.

    A sentence is divided only where all of its clauses are about the speaker: "In my dream, I live in Rome" is not.
    """
    bare = _table().openers.sub("", text)
    divided = _NEXT_CLAUSE.split(bare)
    parts = divided if all(map(_OF_SPEAKER.match, divided)) else [bare]
    greeted = text[: len(text) - len(bare)] + parts[0]
    return [(_plain(parts[0]), _plain(greeted)), *((_plain(each),) for each in parts[1:])]


def _plain(clause: str) -> str:
    """Write out contractions, and leave out fillers and signs around a clause."""
    full = _CONTRACTION.sub(lambda short: _CONTRACTIONS[short[0].lower()], clause)
    return str(_table().closers.sub("", _EDGES.sub("", full)))


@dataclass(frozen=True, slots=True)
class _Table:
    rows: tuple[Row, ...]
    any_of: "re2.Set"  # finds the rows whose patterns match, in one pass
    refused: "re2._Regexp[str]"
    openers: "re2._Regexp[str]"
    closers: "re2._Regexp[str]"
    thing_holds: frozenset[str]
    thing_begins: frozenset[str]
    thing_ends: frozenset[str]
    no_names: frozenset[str]

    def matches_of(self, forms: tuple[str, ...]) -> tuple[RowMatch, ...]:
        """Return the matches of the first form of a clause that has any: one for each predicate, and one rule."""
        for form in forms:
            found: dict[str, RowMatch] = {}
            for match in self._matches(form):
                found.setdefault(_RULE if match.row.topic == _RULE else match.row.predicate, match)
            if found:
                return tuple(found.values())
        return ()

    def _matches(self, clause: str) -> Iterator[RowMatch]:
        for place in sorted(self.any_of.Match(clause) or ()):
            found = self.rows[place].pattern.fullmatch(clause)
            groups = {name.rstrip("0123456789"): text for name, text in found.groupdict().items() if text}
            match = RowMatch(self.rows[place], groups)
            if self._is_plausible(match):
                yield match

    def _is_plausible(self, match: RowMatch) -> bool:
        """Return True if the object is what the row takes it for."""
        row, words = match.row, match.group("object").lower().replace(",", "").split()
        names = [*match.group("name").lower().split(), *(words if row.object in ("name", "person") else ())]
        if not self.no_names.isdisjoint(names) or not set(words).isdisjoint(row.refused):
            return False
        if row.object != "thing":
            return True
        is_whole = words[0] not in self.thing_begins and words[-1] not in self.thing_ends
        return is_whole and self.thing_holds.isdisjoint(words) and (row.splits or len(words) <= _MOST_THING_WORDS)


@lru_cache(maxsize=1)
def _table() -> _Table:
    raw = tomllib.loads(Path(__file__).with_name("table.toml").read_text(encoding="utf-8"))
    rows = tuple(_row(each, slots=raw["slots"]) for each in raw["row"])
    any_of = re2.Set.FullMatchSet()
    for row in rows:
        any_of.Add(row.pattern.pattern)
    any_of.Compile()
    words = raw["words"]
    return _Table(
        rows,
        any_of,
        refused=re2.compile(f"(?i){words['refused']}"),
        openers=re2.compile(rf"(?i)^(?:(?:{words['openers']})(?:[,.!:-]+ *| +|$)){{1,3}}"),
        closers=re2.compile(rf"(?i)(?:[, ]+(?:{words['closers']})){{1,3}}$"),
        **{each: frozenset(words[each].split()) for each in ("thing_holds", "thing_begins", "thing_ends", "no_names")},
    )


def _row(raw: dict[str, Any], *, slots: Mapping[str, str]) -> Row:
    return Row(
        **raw
        | {
            "pattern": _compiled(raw["pattern"], slots),
            "type": MemoryType(raw.get("type", "fact")),
            "polarity": Polarity(raw.get("polarity", "positive")),
            "tags": tuple(raw.get("tags", ())),
        }
    )


def _compiled(pattern: str, slots: Mapping[str, str]) -> "re2._Regexp[str]":
    """Put the slots into a pattern, and number its groups: an expression may have a name once only."""
    while (filled := _SLOT.sub(lambda slot: slots[slot[1]], pattern)) != pattern:
        pattern = filled
    return re2.compile(f"(?i){_GROUP.sub(lambda group: f'(?P<{group[1]}{group.start()}>', pattern)}")
