"""Spans of a turn that are not its speaker's own words, and whose words a quote is."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import chain

from apps.pipeline.core.canonical import canonical_text

HIDDEN = "\x00"  # replaces each character of a span, so that positions in prose and text are the same
_LAST_LATIN = "\u024f"  # scripts after it don't put spaces between words


class ForeignKind(StrEnum):
    """The source of words that are not the speaker's own."""

    CODE = "code"
    MARKUP = "markup"
    DATA = "data"
    QUOTED_LINES = "quoted lines"
    MAIL = "mail"
    TRANSCRIPT = "chat transcript"
    FORGED_ROLE = "text under another role"
    PASTED_TEXT = "pasted text"
    QUOTATION = "quotation"
    ROLE_PLAY = "role play"
    ADDRESS = "web address"  # it interrupts sentences, but the words around it are the speaker's


class Standing(StrEnum):
    """Whose words a quote consists of."""

    OWN = "own"
    RESUMED = "resumed"  # apparently own, but after a task or pasted text, whose end could be forged
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class ForeignSpan:
    """Characters `start` to `end` of a text; `is_open` if the end is a guess."""

    start: int
    end: int
    kind: ForeignKind
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class TurnWords:
    """A text with its foreign spans, in the order in which they were found."""

    text: str
    spans: tuple[ForeignSpan, ...] = ()
    prose: str = field(default="", compare=False)  # the text with all spans hidden

    @property
    def resumes_at(self) -> int:
        """Return where the speaker resumes after a task or pasted text without an end marker."""
        return min((span.end for span in self.spans if span.is_open), default=len(self.text))

    def segments(self, *, start: int = 0, end: int | None = None) -> list[str]:
        """Return the speaker's own words between two positions, split at others' words."""
        prose = list(self.prose[:end])
        for span in self.spans:
            if span.kind is ForeignKind.ADDRESS:
                prose[span.start : span.end] = self.text[span.start : span.end]
        return [part for part in "".join(prose)[start:].split(HIDDEN) if part.strip()]

    def foreign_texts(self) -> list[str]:
        """Return others' words."""
        return [self.text[span.start : span.end] for span in self._of_others()]

    def standing_of(self, quote: str, *, ellipsis: str = "…") -> Standing:
        """Return whose words a quote is; words that occur both in own and in others' text are own.

        Words that don't occur in the text are no quote, and count as own.
        """
        parts = [part for each in quote.split(ellipsis) if (part := canonical_text(each))]
        if _hold(parts, self.segments(end=self.resumes_at)):
            return Standing.OWN
        if _hold(parts, self.segments()):
            return Standing.RESUMED
        return Standing.OTHERS if _hold(parts, [self.text]) else Standing.OWN

    def kind_of(self, quote: str) -> ForeignKind:
        """Return the kind of others' words that contain a quote or part of it."""
        wanted = canonical_text(quote)
        holding = (
            each.kind for each in self._of_others() if wanted in canonical_text(self.text[each.start : each.end])
        )
        return next(chain(holding, (span.kind for span in self.spans)), ForeignKind.QUOTATION)

    def _of_others(self) -> list[ForeignSpan]:
        return [span for span in self.spans if span.kind is not ForeignKind.ADDRESS]


def _hold(parts: Iterable[str], segments: list[str]) -> bool:
    folded = [f" {canonical_text(segment)} " for segment in segments]
    return all(any((part if part[:1] > _LAST_LATIN else f" {part}") in each for each in folded) for part in parts)


def hide(prose: str, spans: Iterable[ForeignSpan]) -> str:
    """Return prose with spans hidden, in one pass."""
    pieces: list[str] = []
    place = 0
    for span in sorted(spans, key=lambda each: each.start):
        if span.end > place:
            start = max(place, span.start)
            pieces += [prose[place:start], HIDDEN * (span.end - start)]
            place = span.end
    return "".join((*pieces, prose[place:]))


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text, without its line break."""

    start: int
    text: str

    @property
    def end(self) -> int:
        """Return where the line ends."""
        return self.start + len(self.text)

    @property
    def is_blank(self) -> bool:
        """Return True if the line is blank."""
        return not self.text.strip()


@lru_cache(maxsize=8)
def lines_of(prose: str) -> tuple[Line, ...]:
    """Return the lines of a text; cached, because most steps need them."""
    lines: list[Line] = []
    start = 0
    for text in prose.split("\n"):
        lines.append(Line(start, text))
        start += len(text) + 1
    return tuple(lines)


def line_at(lines: Sequence[Line], position: int) -> int:
    """Return the number of the line at a position."""
    return max(0, bisect_right(lines, position, key=lambda line: line.start) - 1)


def paragraph_end(lines: Sequence[Line], number: int) -> int:
    """Return the end of the paragraph of a line."""
    while number + 1 < len(lines) and not lines[number + 1].is_blank:
        number += 1
    return lines[number].end
