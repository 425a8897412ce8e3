"""The table of plain statements: whole clauses that a pattern reads from the first to the last word, or nothing."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import re2

from apps.pipeline.core.enums import MemoryType, Polarity

_FILE = Path(__file__).with_name("table.toml")
_SLOT = re.compile(r"\{([A-Z_]{2,})\}")  # "\p{L}" is none
_GROUP = re.compile(r"\(\?P<([a-z]+)>")
_RULE = "assistant"  # the topic of rules for the assistant
_MOST_CHARACTERS = 200  # of a sentence; a longer one is not plain
_MOST_THING_WORDS = 5
_MOST_STRIPPED = 3  # openers before a clause, and closers behind it
_NEXT_CLAUSE = re.compile(r"(?i)(?:,? (?:and|but|so)|[,;]) (?=(?:i|i'm|im|i've|we|we're|we've|my|our)\b)")
_OF_SPEAKER = re.compile(r"(?i)(?:i|i'm|im|i've|we|we're|we've|my|our)\b")
_EDGES = re.compile(r"^[^\w:;]+|[^\w)+#]+$")
_WRITTEN_OUT = tuple(
    (re.compile(rf"(?i)\b{short}\b"), full)
    for short, full in (
        ("i'?m", "I am"), ("i'?ve", "I have"), ("we're", "we are"), ("we've", "we have"), ("don'?t", "do not"),
        ("can'?t|can not", "cannot"), ("have got", "have"),
    )
)  # fmt: skip


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
    refused: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Match:
    """A row and what its groups hold in a clause."""

    row: Row
    groups: dict[str, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence says by the table, and whether each of its clauses says something."""

    matches: tuple[Match, ...] = ()
    is_whole: bool = False


def read(sentence: str) -> Reading:
    """Read a sentence of a user clause by clause."""
    text = " ".join(sentence.replace("’", "'").split())
    if len(text) > _MOST_CHARACTERS or _table().refused.search(text):
        return Reading()
    found = [_table().matches_of(forms) for forms in _clauses(text)]
    return Reading(tuple(match for each in found for match in each), is_whole=all(found))


def _clauses(text: str) -> list[tuple[str, ...]]:
    """Return the clauses of a sentence, the first with and without its greeting.

    A sentence is divided only where all of its clauses are about the speaker: "In my dream, I live in Rome" is not.
    """
    bare = _table().without_openers(text)
    parts = _NEXT_CLAUSE.split(bare)
    if not all(_OF_SPEAKER.match(each) for each in parts):
        parts = [bare]
    greeted = text[: len(text) - len(bare)] + parts[0]
    return [(_plain(parts[0]), _plain(greeted)), *((_plain(each),) for each in parts[1:])]


def _plain(clause: str) -> str:
    """Write out contractions, and leave out fillers and signs around a clause."""
    for short, full in _WRITTEN_OUT:
        clause = short.sub(full, clause)
    return _table().without_closers(_EDGES.sub("", clause))


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

    def matches_of(self, forms: tuple[str, ...]) -> tuple[Match, ...]:
        """Return the matches of the first form of a clause that has any: one for each predicate, and one rule."""
        for form in forms:
            found: dict[str, Match] = {}
            for match in self._matches(form):
                found.setdefault(_RULE if match.row.topic == _RULE else match.row.predicate, match)
            if found:
                return tuple(found.values())
        return ()

    def _matches(self, clause: str) -> Iterator[Match]:
        for place in sorted(self.any_of.Match(clause) or ()):
            row = self.rows[place]
            found = row.pattern.fullmatch(clause)
            groups = {name.rstrip("0123456789"): text for name, text in found.groupdict().items() if text}
            if self._is_plausible(row, groups):
                yield Match(row, groups)

    def _is_plausible(self, row: Row, groups: dict[str, str]) -> bool:
        """Return True if the object is what the row takes it for."""
        words = groups.get("object", "").lower().replace(",", "").split()
        named = groups.get("name", "").lower().split()
        if row.object in ("name", "person"):
            named += words
        if not self.no_names.isdisjoint(named) or not row.refused.isdisjoint(words):
            return False
        if row.object != "thing":
            return True
        is_thing = words[0] not in self.thing_begins and words[-1] not in self.thing_ends
        is_short = row.splits or len(words) <= _MOST_THING_WORDS
        return is_thing and is_short and self.thing_holds.isdisjoint(words)

    def without_openers(self, text: str) -> str:
        """Leave out greetings and fillers before a clause."""
        for _ in range(_MOST_STRIPPED):
            text = self.openers.sub("", text)
        return text

    def without_closers(self, clause: str) -> str:
        """Leave out fillers behind a clause."""
        for _ in range(_MOST_STRIPPED):
            clause = self.closers.sub("", clause)
        return clause


@lru_cache(maxsize=1)
def _table() -> _Table:
    raw = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    rows = tuple(_row(each, slots=raw["slots"]) for each in raw["row"])
    any_of = re2.Set.FullMatchSet()
    for row in rows:
        any_of.Add(row.pattern.pattern)
    any_of.Compile()
    words = raw["words"]
    sets = ("thing_holds", "thing_begins", "thing_ends", "no_names")
    return _Table(
        rows,
        any_of,
        refused=re2.compile(f"(?i){words['refused']}"),
        openers=re2.compile(rf"(?i)^(?:{words['openers']})(?:[,.!:-]+ *| +|$)"),
        closers=re2.compile(rf"(?i)[, ]+(?:{words['closers']})$"),
        **{name: frozenset(words[name].split()) for name in sets},
    )


def _row(raw: dict[str, Any], *, slots: dict[str, str]) -> Row:
    return Row(
        **raw
        | {
            "pattern": re2.compile(f"(?i){_numbered(_filled(raw['pattern'], slots))}"),
            "type": MemoryType(raw.get("type", "fact")),
            "polarity": Polarity(raw.get("polarity", "positive")),
            "tags": tuple(raw.get("tags", ())),
            "refused": frozenset(raw.get("refused", ())),
        }
    )


def _filled(pattern: str, slots: dict[str, str]) -> str:
    """Put the slots into a pattern, and the slots of these."""
    while (filled := _SLOT.sub(lambda slot: slots[slot[1]], pattern)) != pattern:
        pattern = filled
    return pattern


def _numbered(pattern: str) -> str:
    """Give each group of a name a number of its own, since an expression may have a name once only."""
    places = iter(range(1, pattern.count("(?P<") + 1))
    return _GROUP.sub(lambda group: f"(?P<{group[1]}{next(places)}>", pattern)
