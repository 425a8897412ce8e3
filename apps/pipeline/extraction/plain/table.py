"""The table of plain statements: whole clauses that a pattern reads from the first to the last word, or nothing."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

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
    bare = _table().openers.sub("", text)
    divided = _NEXT_CLAUSE.split(bare)
    # Only where all of its clauses are about the speaker: "In my dream, I live in Rome" is not divided.
    first, *others = divided if all(map(_OF_SPEAKER.match, divided)) else [bare]
    greeted = text[: len(text) - len(bare)] + first
    clauses = [(_plain(first), _plain(greeted)), *((_plain(each),) for each in others)]
    found = [_table().matches_of(forms) for forms in clauses]
    return Reading(tuple(match for each in found for match in each), is_whole=all(found))


def rule_tags(sentence: str) -> tuple[str, ...]:
    """Return the tags of the rules for the assistant that a sentence gives: convention, constraint and others."""
    return tuple(tag for match in read(sentence).matches if match.row.topic == _RULE for tag in match.row.tags)


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
            for place in sorted(self.any_of.Match(form) or ()):
                row, groups = self.rows[place], self.rows[place].pattern.fullmatch(form).groupdict()
                match = RowMatch(row, {name.rstrip("0123456789"): text for name, text in groups.items() if text})
                words = match.group("object").lower().replace(",", "").split()
                names = [*match.group("name").lower().split(), *(words if row.object in ("name", "person") else ())]
                is_refused = not self.no_names.isdisjoint(names) or not set(words).isdisjoint(row.refused)
                # The object is what the row takes it for.
                is_plausible = row.object != "thing" or (
                    (row.splits or len(words) <= _MOST_THING_WORDS)
                    and self.thing_holds.isdisjoint(words)
                    and words[0] not in self.thing_begins
                    and words[-1] not in self.thing_ends
                )
                if is_plausible and not is_refused:
                    found.setdefault(_RULE if row.topic == _RULE else row.predicate, match)
            if found:
                return tuple(found.values())
        return ()


@lru_cache(maxsize=1)
def _table() -> _Table:
    raw = tomllib.loads(Path(__file__).with_name("table.toml").read_text(encoding="utf-8"))
    rows: list[Row] = []
    any_of = re2.Set.FullMatchSet()
    for each in raw["row"]:
        pattern = each["pattern"]
        while (filled := _SLOT.sub(lambda slot: raw["slots"][slot[1]], pattern)) != pattern:
            pattern = filled
        # Groups are numbered: an expression may have a name once only.
        numbered = _GROUP.sub(lambda group: f"(?P<{group[1]}{group.start()}>", pattern)
        compiled = {
            "pattern": re2.compile(f"(?i){numbered}"),
            "type": MemoryType(each.get("type", "fact")),
            "polarity": Polarity(each.get("polarity", "positive")),
            "tags": tuple(each.get("tags", ())),
        }
        rows.append(Row(**each | compiled))
        any_of.Add(rows[-1].pattern.pattern)
    any_of.Compile()
    words = raw["words"]
    return _Table(
        tuple(rows),
        any_of,
        refused=re2.compile(f"(?i){words['refused']}"),
        openers=re2.compile(rf"(?i)^(?:(?:{words['openers']})(?:[,.!:-]+ *| +|$)){{1,3}}"),
        closers=re2.compile(rf"(?i)(?:[, ]+(?:{words['closers']})){{1,3}}$"),
        **{each: frozenset(words[each].split()) for each in ("thing_holds", "thing_begins", "thing_ends", "no_names")},
    )
