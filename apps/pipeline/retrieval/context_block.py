"""The context block: what an agent is told of an end user, as one marked text within a budget of tokens.

Rules come first and facts next, each in an order that depends on the memories alone, and what a query asks for comes
last: an agent's prompt stays the same from its start as long as nothing new is known.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.enums import MemoryType, Precision
from apps.pipeline.core.type_traits import TYPE_TRAITS
from apps.pipeline.prefilter.context_marker import wrap
from apps.pipeline.resolution.event_dates import counts_from_a_day
from apps.pipeline.resolution.pronouns import kind_of

CONSTRAINT_PREFIX = "WARNING, never break this: "
UNVERIFIED = " (unverified)"
# Of the tokens that rules leave, facts take at most this share, so that a query is answered as well.
FACTS_SHARE = 0.5
# How a time is written that is known to less than the day.
_DATES = {
    Precision.WEEK: "week of %Y-%m-%d",
    Precision.MONTH: "%Y-%m",
    Precision.QUARTER: "quarter from %Y-%m",
    Precision.YEAR: "%Y",
}

CountTokens = Callable[[str], int]


class BlockSection(StrEnum):
    """The parts of a block, in their order; the value is the heading."""

    CONSTRAINTS = "Constraints:"
    CONVENTIONS = "Conventions:"
    FACTS = "Known facts:"
    RELEVANT = "Relevant memories:"


@dataclass(frozen=True, slots=True)
class ContextMemory:
    """What the block shows of a memory."""

    id: UUID
    type: MemoryType
    content: str
    said_at: datetime
    subject: str = ""  # the subject's name; empty for the end user
    predicate: str = ""
    object_text: str = ""
    event_at: datetime | None = None
    event_precision: Precision = Precision.INSTANT
    is_unverified: bool = False


@dataclass(frozen=True, slots=True)
class RenderedBlock:
    """A rendered block; `omitted` memories would have been shown in a larger one."""

    text: str = ""
    tokens: int = 0
    memory_ids: tuple[UUID, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    memories: tuple[ContextMemory, ...]


def render(
    *, known: Mapping[BlockSection, Sequence[ContextMemory]], token_budget: int, count_tokens: CountTokens
) -> RenderedBlock:
    """Render memories, the most important of each section first, as far as the budget goes; nothing known is "".

    Memories with the same words are shown once, in the first section that has room for them.
    """
    left = token_budget - count_tokens(wrap(""))
    shown: dict[BlockSection, list[_Line]] = {}
    words: set[str] = set()
    for section in BlockSection:
        lines = _lines(section, _unshown(known.get(section, ()), words))
        is_shared = section is BlockSection.FACTS and known.get(BlockSection.RELEVANT)
        room = left * FACTS_SHARE if is_shared else left
        shown[section] = _within(section, lines, room, count_tokens)
        left -= _cost(section, shown[section], count_tokens)
        words.update(_words(each) for line in shown[section] for each in line.memories)
    return _block(shown, known, words, count_tokens)


def _block(
    shown: Mapping[BlockSection, Sequence[_Line]],
    known: Mapping[BlockSection, Sequence[ContextMemory]],
    words: set[str],
    count_tokens: CountTokens,
) -> RenderedBlock:
    omitted = {_words(each) for memories in known.values() for each in memories} - words
    if not words:
        return RenderedBlock(omitted=len(omitted))
    text = wrap("\n".join(_with_headings(shown)))
    ids = tuple(each.id for lines in shown.values() for line in lines for each in line.memories)
    return RenderedBlock(text=text, tokens=count_tokens(text), memory_ids=ids, omitted=len(omitted))


def _words(memory: ContextMemory) -> str:
    return canonical_text(memory.content) or memory.content


def _unshown(memories: Iterable[ContextMemory], words: set[str]) -> list[ContextMemory]:
    """Return the memories whose words are not shown yet, one of each."""
    fresh: dict[str, ContextMemory] = {}
    for each in memories:
        fresh.setdefault(_words(each), each)
    return [each for said, each in fresh.items() if said not in words]


def _lines(section: BlockSection, memories: Sequence[ContextMemory]) -> list[_Line]:
    if section is BlockSection.FACTS:
        return list(_fact_lines(memories))
    return [_Line(f"- {_sentence(each, section)}", (each,)) for each in memories]


def _fact_lines(facts: Sequence[ContextMemory]) -> Iterable[_Line]:
    """Write `name = value` lines; several values of one name share a line."""
    names: dict[str, list[ContextMemory]] = {}
    for each in filter(_stands_alone, facts):
        name = f"{each.subject}.{each.predicate}" if each.subject else each.predicate
        names.setdefault(_flat(name), []).append(each)
    for name, holders in names.items():
        values = dict.fromkeys(_flat(each.object_text) + _doubt(each) for each in holders)
        yield _Line(f"{name} = {'; '.join(values)}", tuple(holders))


def _stands_alone(fact: ContextMemory) -> bool:
    """Tell whether a value needs its sentence: "someone to feed him" is said of Miso there."""
    value = canonical_text(fact.object_text)
    return value in canonical_text(fact.content) or not any(kind_of(word) for word in value.split())


def _sentence(each: ContextMemory, section: BlockSection) -> str:
    prefix = CONSTRAINT_PREFIX if section is BlockSection.CONSTRAINTS else ""
    is_dated = TYPE_TRAITS[each.type].dated or counts_from_a_day(each.content)
    dated = f"[{_when(each)}] " if is_dated else ""
    return f"{prefix}{dated}{_flat(each.content)}{_doubt(each)}"


def _when(each: ContextMemory) -> str:
    """Write when an event happened, no more exactly than is known; else the day on which it was told."""
    if each.event_at is None:
        return f"told {each.said_at:%Y-%m-%d}"
    return each.event_at.strftime(_DATES.get(each.event_precision, "%Y-%m-%d"))


def _doubt(each: ContextMemory) -> str:
    return UNVERIFIED if each.is_unverified else ""


def _flat(text: str) -> str:
    """Put a text on one line, so that no memory can pass for two."""
    return " ".join(text.split())


def _within(section: BlockSection, lines: Sequence[_Line], room: float, count_tokens: CountTokens) -> list[_Line]:
    """Take lines in their order, leaving out those for which there is no room below the heading."""
    chosen: list[_Line] = []
    room -= count_tokens(section) + 1
    for line in lines:
        cost = count_tokens(line.text) + 1
        if cost <= room:
            chosen.append(line)
            room -= cost
    return chosen


def _cost(section: BlockSection, lines: Sequence[_Line], count_tokens: CountTokens) -> int:
    """Count the tokens of a section: its heading and its lines, with a line break each."""
    return sum(count_tokens(text) + 1 for text in (section, *(line.text for line in lines))) if lines else 0


def _with_headings(shown: Mapping[BlockSection, Sequence[_Line]]) -> Iterable[str]:
    """Put each section under its heading; facts are in alphabetical order, so that a new weight moves none."""
    for section, lines in shown.items():
        texts = [line.text for line in lines]
        if texts:
            yield section.value
            yield from sorted(texts) if section is BlockSection.FACTS else texts
