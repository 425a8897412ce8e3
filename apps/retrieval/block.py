"""The context block: what is known about an end user, as one marked text within a token budget.

Lines are ordered by value, independently of the budget. The block contains the longest prefix of that order that
fits, so a larger budget only adds lines. It is printed by sections.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import accumulate
from uuid import UUID

from apps.memories.models import Memory
from apps.memories.services.waiting_messages import WaitingMessage
from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.prefilter.context_marker import wrap
from apps.retrieval.lines import Wording, line_of, quoted_line

# Longer lines would keep many others out of a small block, so they are taken last.
LONG_LINE = 400  # characters
_CHARACTERS_PER_TOKEN = 3.5  # approximately, for a first guess

CountTokens = Callable[[str], int]
# Memories of a section, the most valuable first. A section may consist of several parts.
SectionPart = tuple["BlockSection", Sequence[Memory]]


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
class BlockLine:
    """A line of a block, with the memories that it tells."""

    section: BlockSection
    text: str
    memories: tuple[Memory, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """A block with its lines in order of their value, and those that the budget leaves out; "" without lines."""

    text: str = ""
    tokens: int = 0
    lines: tuple[BlockLine, ...] = ()
    left_out: tuple[BlockLine, ...] = ()

    @property
    def memory_ids(self) -> tuple[UUID, ...]:
        """Return the memories that it tells."""
        return tuple(each.id for line in self.lines for each in line.memories)

    @property
    def omitted(self) -> int:
        """Return how many further memories a larger block would tell."""
        return sum(len(line.memories) for line in self.left_out)

    @property
    def printed(self) -> list[BlockLine]:
        """Return the lines in the order of the text."""
        return sorted(self.lines, key=lambda line: _SECTIONS.index(line.section))


_SECTIONS = list(BlockSection)


def render(
    parts: Iterable[SectionPart],
    wording: Wording,
    *,
    token_budget: int,
    count_tokens: CountTokens,
    quotes: Sequence[WaitingMessage] = (),
) -> ContextBlock:
    """Return the block of what fits the budget, the most valuable part first; marker and headings count too.

    Memories with the same words are shown once, in the first part that has them.
    """
    lines: list[BlockLine] = []
    shown: set[str] = set()
    for place, (section, memories) in enumerate(parts):
        for memory in memories:
            words = _words(memory)
            if words in shown:
                continue
            # A memory that is shown with the one that it contradicts has no line of its own.
            also_said = [each for each in wording.disputes.get(memory.id, ()) if _words(each) not in shown]
            shown.update((words, *map(_words, also_said)))
            lines.append(BlockLine(section, f"- {line_of(memory, wording)}", (memory, *also_said)))
        if place == 0:  # waiting quotes come after the first part, which has what the query needs
            for quote in quotes:
                text = f"- {quoted_line(quote.content, said_at=quote.said_at)}"
                lines.append(BlockLine(BlockSection.WAITING, text))
    lines.sort(key=lambda line: len(line.text) > LONG_LINE)
    fitting = _fitting(lines, token_budget, count_tokens, wording.user_name)
    text = _text(wording.user_name, lines[:fitting]) if fitting else ""
    tokens = count_tokens(text) if fitting else 0
    return ContextBlock(text=text, tokens=tokens, lines=tuple(lines[:fitting]), left_out=tuple(lines[fitting:]))


def _words(memory: Memory) -> str:
    return canonical_text(memory.content) or memory.content


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
