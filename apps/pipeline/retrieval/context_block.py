"""The context block: what is known about an end user, as one marked text within a token budget.

Lines are ordered by value, independently of the budget. The block contains the longest prefix of that order that
fits, so a larger budget only adds lines. It is printed by sections.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import accumulate
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.prefilter.context_marker import wrap
from apps.pipeline.retrieval.context_line import ContextMemory, fact_line, quoted_line, sentence_line

CONSTRAINT_PREFIX = "WARNING, never break this: "
# Longer lines would keep many others out of a small block, so they are taken last.
LONG_LINE = 400  # characters
_CHARACTERS_PER_TOKEN = 3.5  # approximately, for a first guess

CountTokens = Callable[[str], int]
# Memories of a section, the most valuable first. A section may consist of several parts.
SectionPart = tuple["BlockSection", Sequence[ContextMemory]]


class BlockSection(StrEnum):
    """The sections of a block in the order of printing; the value is the heading."""

    CONSTRAINTS = "Constraints:"
    CONVENTIONS = "Conventions:"
    RELEVANT = "Relevant memories:"
    UPCOMING = "Upcoming:"
    FACTS = "Known facts:"
    WAITING = "Said just now, not processed yet:"
    QUOTES = "Said by the user, as quotes:"
    OTHERS = "Other memories:"


@dataclass(frozen=True, slots=True)
class WaitingQuote:
    """A message that waits to be processed."""

    content: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class RenderedBlock:
    """A rendered block; `omitted` memories would be in a larger one."""

    text: str = ""
    tokens: int = 0
    memory_ids: tuple[UUID, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of a block, with the memories that it tells."""

    section: BlockSection
    text: str
    memory_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ArrangedLines:
    """The lines of a block in order of their value, and those that the budget leaves out."""

    shown: tuple[BlockLine, ...] = ()
    omitted: tuple[BlockLine, ...] = ()


def render(
    *,
    known: Sequence[SectionPart],
    token_budget: int,
    count_tokens: CountTokens,
    now: datetime,
    quotes: Sequence[WaitingQuote] = (),
) -> RenderedBlock:
    """Render memories, the most valuable part first, up to the budget; without memories and quotes, return ""."""
    arranged = arrange(known=known, quotes=quotes, token_budget=token_budget, count_tokens=count_tokens, now=now)
    return rendered(lines=arranged, count_tokens=count_tokens)


def arrange(
    *,
    known: Sequence[SectionPart],
    token_budget: int,
    count_tokens: CountTokens,
    now: datetime,
    quotes: Sequence[WaitingQuote] = (),
) -> ArrangedLines:
    """Return the lines of memories, the most valuable part first, divided by what fits the budget.

    Quotes of waiting messages come after the rules. Memories with the same words are shown once, in the first part
    that has them. Marker and headings count too.
    """
    lines = sorted((*_lines(known, now), *_quoted(quotes)), key=_value)
    fitting = _fitting(lines, token_budget, count_tokens)
    return ArrangedLines(shown=tuple(lines[:fitting]), omitted=tuple(lines[fitting:]))


def rendered(*, lines: ArrangedLines, count_tokens: CountTokens) -> RenderedBlock:
    """Return lines as the text of a block; "" without lines."""
    omitted = sum(len(line.memory_ids) for line in lines.omitted)
    if not lines.shown:
        return RenderedBlock(omitted=omitted)
    text = _text(lines.shown)
    ids = tuple(memory_id for line in lines.shown for memory_id in line.memory_ids)
    return RenderedBlock(text=text, tokens=count_tokens(text), memory_ids=ids, omitted=omitted)


def _lines(known: Sequence[SectionPart], now: datetime) -> Iterable[BlockLine]:
    shown: set[str] = set()
    for section, memories in known:
        for memory in memories:
            if _words(memory.content) in shown:
                continue
            # A memory that is shown with the one that it contradicts has no line of its own.
            also_said = [each for each in memory.contradicted_by if _words(each.content) not in shown]
            shown.update(_words(each.content) for each in (memory, *also_said))
            ids = (memory.id, *(each.id for each in also_said))
            prefix = CONSTRAINT_PREFIX if section is BlockSection.CONSTRAINTS else ""
            short = fact_line(memory, now=now) if section is BlockSection.FACTS else None
            yield BlockLine(section, f"- {prefix}{short or sentence_line(memory, now=now)}", ids)


def _quoted(quotes: Sequence[WaitingQuote]) -> Iterable[BlockLine]:
    for quote in quotes:
        yield BlockLine(BlockSection.WAITING, f"- {quoted_line(quote.content, said_at=quote.said_at)}", ())


def _value(line: BlockLine) -> tuple[bool, int]:
    """Return the place of a line among those that the budget lets in; lines of one place keep their order."""
    places = {BlockSection.CONSTRAINTS: 0, BlockSection.CONVENTIONS: 0, BlockSection.WAITING: 1}
    return len(line.text) > LONG_LINE, places.get(line.section, 2)


def _words(content: str) -> str:
    return canonical_text(content) or content


def _fitting(lines: Sequence[BlockLine], token_budget: int, count_tokens: CountTokens) -> int:
    """Return how many lines fit, counted as the rendered text.

    Counting is the slow part, so each guess is interpolated from the previous count.
    """
    characters = [0, *accumulate(len(line.text) for line in lines)]
    fits, too_many = 0, len(lines) + 1
    wanted = token_budget * _CHARACTERS_PER_TOKEN
    while fits + 1 < too_many:
        number = min(max(bisect_right(characters, wanted) - 1, fits + 1), too_many - 1)
        tokens = count_tokens(_text(lines[:number]))
        if tokens <= token_budget:
            fits = number
        else:
            too_many = number
        wanted = characters[number] * token_budget / max(tokens, 1)
    return fits


def _text(lines: Sequence[BlockLine]) -> str:
    by_section = {section: [line.text for line in lines if line.section is section] for section in BlockSection}
    return wrap("\n".join(text for section, texts in by_section.items() if texts for text in (section.value, *texts)))
