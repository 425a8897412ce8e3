"""The context block: what is known about an end user, as one marked text within a token budget.

Lines are ordered by value, independently of the budget. The block contains the longest prefix of that order that
fits, so a larger budget only adds lines. It is printed by sections.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import accumulate
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.prefilter.context_marker import wrap
from apps.retrieval.lines import ContextMemory, line_of, quoted_line

# Longer lines would keep many others out of a small block, so they are taken last.
LONG_LINE = 400  # characters
_CHARACTERS_PER_TOKEN = 3.5  # approximately, for a first guess

CountTokens = Callable[[str], int]
# Memories of a section, the most valuable first. A section may consist of several parts.
SectionPart = tuple["BlockSection", Sequence[ContextMemory]]


class BlockSection(StrEnum):
    """The sections of a block in the order of printing; the value is the heading."""

    RELEVANT = "Relevant memories:"
    CONSTRAINTS = "Rules that must never be broken:"
    CONVENTIONS = "Rules:"
    HEALTH = "Health:"
    UPCOMING = "Upcoming:"
    FACTS = "Known facts:"
    WAITING = "Said just now, not processed yet:"
    QUOTES = "Said by the user, as quotes:"


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
class KnownUser:
    """What a block may tell of an end user: memories by section, the most valuable part first, and waiting quotes."""

    name: str
    parts: Sequence[SectionPart]
    quotes: Sequence[WaitingQuote] = ()


@dataclass(frozen=True, slots=True)
class ArrangedLines:
    """The lines of a block in order of their value, and those that the budget leaves out."""

    user_name: str = ""
    shown: tuple[BlockLine, ...] = ()
    omitted: tuple[BlockLine, ...] = ()

    @property
    def text(self) -> str:
        """Return the block; "" without lines."""
        return _text(self.user_name, self.shown) if self.shown else ""


def arrange(known: KnownUser, *, token_budget: int, count_tokens: CountTokens, now: datetime) -> ArrangedLines:
    """Return the lines of memories divided by what fits the budget; marker and headings count too.

    Memories with the same words are shown once, in the first part that has them.
    """
    lines: list[BlockLine] = []
    shown: set[str] = set()
    for place, (section, memories) in enumerate(known.parts):
        for memory in memories:
            words = _words(memory.content)
            if words in shown:
                continue
            # A memory that is shown with the one that it contradicts has no line of its own.
            also_said = [each for each in memory.contradicted_by if _words(each.content) not in shown]
            shown.update((words, *(_words(each.content) for each in also_said)))
            ids = (memory.id, *(each.id for each in also_said))
            lines.append(BlockLine(section, f"- {line_of(memory, user_name=known.name, now=now)}", ids))
        if place == 0:  # waiting quotes come after the first part, which has what the query needs
            for quote in known.quotes:
                text = f"- {quoted_line(quote.content, said_at=quote.said_at)}"
                lines.append(BlockLine(BlockSection.WAITING, text, ()))
    lines.sort(key=lambda line: len(line.text) > LONG_LINE)
    fitting = _fitting(lines, token_budget, count_tokens, known.name)
    return ArrangedLines(user_name=known.name, shown=tuple(lines[:fitting]), omitted=tuple(lines[fitting:]))


def rendered(lines: ArrangedLines, *, count_tokens: CountTokens) -> RenderedBlock:
    """Return lines as the text of a block; "" without lines."""
    return RenderedBlock(
        text=lines.text,
        tokens=count_tokens(lines.text) if lines.shown else 0,
        memory_ids=tuple(memory_id for line in lines.shown for memory_id in line.memory_ids),
        omitted=sum(len(line.memory_ids) for line in lines.omitted),
    )


def _words(content: str) -> str:
    return canonical_text(content) or content


def _fitting(lines: Sequence[BlockLine], token_budget: int, count_tokens: CountTokens, user_name: str) -> int:
    """Return how many lines fit, counted as the rendered text.

    Counting is the slow part, so each guess is interpolated from the previous count.
    """
    characters = [0, *accumulate(len(line.text) for line in lines)]
    fits, too_many = 0, len(lines) + 1
    wanted = token_budget * _CHARACTERS_PER_TOKEN
    while fits + 1 < too_many:
        number = min(max(bisect_right(characters, wanted) - 1, fits + 1), too_many - 1)
        tokens = count_tokens(_text(user_name, lines[:number]))
        if tokens <= token_budget:
            fits = number
        else:
            too_many = number
        wanted = characters[number] * token_budget / max(tokens, 1)
    return fits


def _text(user_name: str, lines: Sequence[BlockLine]) -> str:
    heading = f"About the user, {user_name}:" if user_name else "About the user:"
    by_section = {section: [line.text for line in lines if line.section is section] for section in BlockSection}
    sections = [text for section, texts in by_section.items() if texts for text in (section.value, *texts)]
    return wrap("\n".join((heading, *sections)))
