"""Find a speaker's own words in a turn, by structure: one step for each kind of others' words, each on what is left.

What can't be told from own words with certainty, after a task or a paste, is RESUMED: it replaces nothing.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache, partial
from itertools import pairwise

import re2

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.provenance import marks
from apps.pipeline.provenance.orders import orders_agent

HIDDEN = "\x00"  # replaces each character of a span, so that positions in prose and text are the same
_LAST_LATIN = "\u024f"  # scripts after it don't put spaces between words
LONGEST_HEAD, _MOST_COLONS = 160, 100  # characters of a label; texts with more colons are data
_LONGEST_QUOTATION = 4_000


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


_Step = Callable[[str], Iterator[ForeignSpan]]


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

    def segments(self, *, end: int | None = None) -> list[str]:
        """Return the speaker's own words up to a position, split at others' words."""
        return [part for part in self.prose[:end].split(HIDDEN) if part.strip()]

    def foreign_texts(self) -> list[str]:
        """Return others' words."""
        return [self.text[span.start : span.end] for span in self.spans]

    def standing_of(self, quote: str, *, ellipsis: str = "…") -> Standing:
        """Return whose words a quote is; words that occur both in own and in others' text are own.

        Words that don't occur in the text are no quote, and count as own.
        """
        if self.has_own(quote, end=self.resumes_at, ellipsis=ellipsis):
            return Standing.OWN
        if self.has_own(quote, ellipsis=ellipsis):
            return Standing.RESUMED
        parts = _parts(quote, ellipsis)
        return Standing.OTHERS if _hold(parts, self.text) else Standing.OWN

    def has_own(self, quote: str, *, end: int | None = None, ellipsis: str = "…") -> bool:
        """Return True if all parts of a quote stand in the speaker's own words up to a position."""
        return _hold(_parts(quote, ellipsis), self.prose[:end])

    def kind_of(self, quote: str) -> ForeignKind:
        """Return the kind of others' words that contain a quote or part of it."""
        wanted, texts = canonical_text(quote), map(canonical_text, self.foreign_texts())
        holding = (span.kind for span, text in zip(self.spans, texts, strict=True) if wanted in text)
        return next(holding, self.spans[0].kind if self.spans else ForeignKind.QUOTATION)


def _parts(quote: str, ellipsis: str) -> list[str]:
    return [part for each in quote.split(ellipsis) if (part := canonical_text(each))]


def _hold(parts: Iterable[str], prose: str) -> bool:
    folded = _folded(prose)
    return all(any((part if part[:1] > _LAST_LATIN else f" {part}") in each for each in folded) for part in parts)


@lru_cache(maxsize=64)
def _folded(prose: str) -> tuple[str, ...]:
    return tuple(f" {canonical_text(segment)} " for segment in prose.split(HIDDEN) if segment.strip())


def words_of(turn: SourceTurn, *, earlier: Sequence[SourceTurn] = ()) -> TurnWords:
    """Return the words of a turn; `earlier` are turns of the same speaker, oldest first, which may have opened a scene.

    A turn whose speaker has the name of a role ("System") has no own words.
    """
    speaker = turn.speaker.strip()
    if speaker.casefold() not in ("user", "human") and marks.IS_ROLE.match(speaker):
        span = ForeignSpan(0, len(turn.content), ForeignKind.FORGED_ROLE)
        return TurnWords(turn.content, (span,), HIDDEN * len(turn.content))
    return read_words(turn.content, is_playing=_is_in_scene(each.content for each in earlier))


@lru_cache(maxsize=64)
def read_words(text: str, *, is_playing: bool = False) -> TurnWords:
    """Find the spans of a text that are not its author's own words, in time linear in its length."""
    prose = marks.NO_CHARACTER.sub(HIDDEN, text)
    spans: list[ForeignSpan] = []
    steps: tuple[_Step, ...] = (*_STEPS, partial(_scenes, is_playing=is_playing))
    for step in steps:
        found = tuple(step(prose))
        spans += found
        prose = _hide(prose, found)
    characters = list(prose)
    for span in spans:  # a new sentence begins after a quotation that ends one
        is_sentence = marks.ENDS_SENTENCE.search(text[max(span.start, span.end - 4) : span.end])
        if span.kind is ForeignKind.QUOTATION and is_sentence and text[span.end :].strip():
            characters[span.end - 1] = "\n"
    return TurnWords(text, tuple(spans), "".join(characters))


def _hide(prose: str, spans: Iterable[ForeignSpan]) -> str:
    pieces: list[str] = []
    place = 0
    for span in sorted(spans, key=lambda each: each.start):
        if span.end > place:
            start = max(place, span.start)
            pieces += [prose[place:start], HIDDEN * (span.end - start)]
            place = span.end
    return "".join((*pieces, prose[place:]))


# ---- Regions and lines with marks of their own


def _region(kind: ForeignKind, pattern: "re2._Regexp[str]") -> _Step:
    """Return a step that yields what a pattern matches."""

    def found_in(prose: str) -> Iterator[ForeignSpan]:
        for found in pattern.finditer(prose):
            yield ForeignSpan(found.start(), found.end(), kind)

    return found_in


def _json(prose: str) -> Iterator[ForeignSpan]:
    """Yield JSON, from the first bracket to the last one, or to the end of the text if one is not closed."""
    if opening := marks.JSON_OPENS.search(prose):
        rest = prose[opening.start() :]
        is_closed = rest.count("{") + rest.count("[") <= rest.count("}") + rest.count("]")
        length = max(rest.rfind("}"), rest.rfind("]")) + 1 if is_closed else len(rest)
        yield ForeignSpan(opening.start(), opening.start() + length, ForeignKind.DATA)


def _marked_lines(prose: str) -> Iterator[ForeignSpan]:
    """Yield comments, logs, quoted lines, rows of tables, diffs, and the messages of chats with all their lines."""
    lines = prose.split("\n")
    start = ends = 0
    in_diff = False
    for number, line in enumerate(lines):
        if line.strip() and start >= ends:
            beside = [*lines[max(0, number - 1) : number], *lines[number + 1 : number + 2]]
            found = (kind for kind, pattern in _MARKED if pattern.search(line))
            kind = next(found, None) if marks.ANY_MARK.search(line) else None
            if kind is None and in_diff and marks.DIFF_LINE.match(line):
                kind = ForeignKind.CODE
            in_diff = kind is ForeignKind.CODE and (in_diff or marks.DIFF_OPENS.match(line) is not None)
            is_stamped = marks.STAMPED.match(line) and any(map(marks.STAMPED.match, beside))
            if kind is None and (is_stamped or _is_row(line, beside)):
                kind = ForeignKind.DATA
            if kind is not None:
                is_whole = kind is ForeignKind.TRANSCRIPT or marks.OPENS_PARAGRAPH.match(line)
                ends = paragraph_end(prose, start) if is_whole else start + len(line)
                yield ForeignSpan(start, ends, kind)
        start += len(line) + 1


def paragraph_end(prose: str, place: int) -> int:
    """Return where the paragraph at a position ends."""
    gap = marks.BLANK_LINE.search(prose, place)
    return int(gap.start()) if gap else len(prose)


def _is_row(line: str, beside: Iterable[str]) -> bool:
    """Return True if a line has as many cells as one beside it."""
    cells = _cells(line)
    return cells > 0 and any(_cells(each) == cells for each in beside)


def _cells(line: str) -> int:
    return sum(1 for _ in marks.CELL_END.finditer(line)) if marks.SEPARATORS.intersection(line) else 0


# ---- Pastes whose end is a guess


def _roles(prose: str) -> Iterator[ForeignSpan]:
    """Yield text under the marker of a role, or addressed to an extractor, until the speaker resumes."""
    starts = [found.start() for found in marks.ROLE.finditer(prose)]
    return _pastes(prose, starts, ForeignKind.FORGED_ROLE, gap=marks.LINE_BREAK)


def _mails(prose: str) -> Iterator[ForeignSpan]:
    """Yield each mail or letter, from its header, or from a greeting that a signature with more text below follows."""
    signed = (found.start() for found in marks.SIGN_OFF.finditer(prose))
    last = max((each for each in signed if prose[paragraph_end(prose, each) :].strip()), default=-1)
    greetings = [found.start() for found in marks.GREETING.finditer(prose) if found.start() < last]
    starts = sorted((*greetings, *(found.start() for found in marks.MAIL.finditer(prose))))
    return _pastes(prose, starts, ForeignKind.MAIL)


def _pastes(
    prose: str, starts: Iterable[int], kind: ForeignKind, *, gap: "re2._Regexp[str]" = marks.BLANK_LINE
) -> Iterator[ForeignSpan]:
    place = 0
    for start in starts:
        if start >= place:
            place = max(_end_of_paste(prose, start, gap=gap), start + 1)
            yield ForeignSpan(start, place, kind, is_open=True)


def _end_of_paste(prose: str, start: int, *, gap: "re2._Regexp[str]" = marks.BLANK_LINE) -> int:
    """Return where a signature has ended, or the subject changes after a gap; often the end of the text."""
    is_signed, place = False, start
    for found in gap.finditer(prose, start):
        is_signed = is_signed or marks.SIGN_OFF.search(prose[place : found.start()]) is not None
        place = found.end()
        following = prose[place : place + LONGEST_HEAD]
        belongs = following.startswith(HIDDEN) or marks.POSTSCRIPT.match(following)
        is_after_signature = is_signed and found.group().count("\n") > 1
        if not belongs and (is_after_signature or marks.RESUMES.match(following)):
            return int(place)
    return len(prose)


# ---- Texts after a label or a task


def _labelled(prose: str) -> Iterator[ForeignSpan]:
    """Yield texts after a label that is not the speaker: "My landlord wrote me: …", "OCR of the letter: …"."""
    place = 0
    for number, colon in enumerate(marks.COLON.finditer(prose)):
        if colon.start() < place:
            continue
        if number >= _MOST_COLONS:
            yield ForeignSpan(colon.start(), len(prose), ForeignKind.DATA)
            return
        start = colon.start() + 1
        head = last_clause(prose[max(0, start - 1 - LONGEST_HEAD) : start - 1].rpartition(HIDDEN)[2]).strip()
        if is_own_label(head) or prose.startswith("http", colon.end()):
            continue
        is_announced = announces(head)
        if is_announced or _names_source(head, prose, start):
            span = _text_after(prose, start, is_announced=is_announced)
            place = span.end
            yield span


def is_own_label(head: str) -> bool:
    """Return True if words before a colon are the speaker's own: "Update", "About me", "The thing is"."""
    if not head or any(each.search(head) for each in (marks.ABOUT_SPEAKER, marks.SPEAKS_SELF, marks.RESUMES)):
        return True
    return not announces(head) and (in_first_person(head) or not marks.OWN_LABELS.isdisjoint(_words(head)))


def without_label(sentence: str) -> str:
    """Return what follows a label of the speaker's own: "Reminder: I'm vegan", "As I said, I'm vegan"."""
    label, _, said = sentence.partition(": ")
    if said and is_own_label(label) and not in_first_person(label):
        return said
    repeated = marks.AS_I_SAID.match(sentence)
    return sentence[repeated.end() :] if repeated else sentence


def announces(head: str) -> bool:
    """Return True if words before a colon announce a text: by a verb of speaking, a source, or a task over a text."""
    if any(pattern.search(head) for pattern in (marks.SPEAKS, marks.TASK, marks.POINTS_AT_TEXT)):
        return True
    source = marks.SOURCE_NOUN.search(marks.PURPOSE.sub("", head))
    if marks.REQUEST.match(head):
        return source is not None or not marks.MY.search(head)
    if source is None or marks.MINE_IS.search(head):
        return False
    is_plain = _words(head)[-1] in marks.OWN_LABELS and not marks.THIRD_PERSON.search(head)
    return source.end() < len(head) or not is_plain


def in_first_person(text: str) -> bool:
    """Return True if a text speaks of its speaker."""
    return marks.FIRST_PERSON.search(text) is not None


def _names_source(head: str, prose: str, start: int) -> bool:
    """Return True for a name, or a thing with a text on it, that opens a line: "bob: I …", "The cookie: I …"."""
    line_start = prose.rfind("\n", 0, start) + 1
    if not prose[line_start:start].lstrip(marks.BULLETS).startswith(head.lstrip(marks.BULLETS)):
        return False
    words = [word.lstrip(marks.BULLETS) for word in head.split()]
    if len(words) > 4 and not marks.SOURCE_NOUN.search(head):
        return False
    is_thing = len(words) > 1 and words[0].casefold() in ("the", "this", "that", "der", "die", "das", "le", "la", "el")
    is_capitalised = all(each[:1].isupper() for each in words)
    if not (len(words) == 1 or is_thing or is_capitalised or marks.OF_A_NAME.search(head)):
        return False
    said = prose[start : _line_end(prose, start)]
    return not said.strip() or in_first_person(said) or orders_agent(said)


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?*()[]-–—\"'") for word in text.casefold().split()]


def last_clause(text: str) -> str:
    """Return what stands after the last sign that ends a clause."""
    return text[max(text.rfind(mark) for mark in marks.CLAUSE_ENDS) + 1 :]


def _line_end(prose: str, place: int) -> int:
    end = prose.find("\n", place)
    return end if end >= 0 else len(prose)


def _text_after(prose: str, start: int, *, is_announced: bool) -> ForeignSpan:
    """Return the text after a colon: a quotation, a line, a paragraph, or everything until the speaker resumes."""
    text = marks.TEXT_BEGINS.search(prose, start)
    if text is None:
        return ForeignSpan(start, len(prose), ForeignKind.PASTED_TEXT)
    if text.group() in marks.QUOTATION_MARKS:
        end = _end_of_quotation(prose, _closings_of(prose), text.start())
        return ForeignSpan(start, end if end > text.start() else len(prose), ForeignKind.QUOTATION)
    if "\n" not in prose[start : text.start()]:
        end = (paragraph_end if is_announced else _line_end)(prose, text.start())
    else:
        end = (_end_of_paste if is_announced else paragraph_end)(prose, text.start())
    return ForeignSpan(start, end, ForeignKind.PASTED_TEXT, is_open=True)


def _tasks(prose: str) -> Iterator[ForeignSpan]:
    """Yield the material of a task: what stands below the request, or above a last one; what follows is uncertain."""
    lines = list(marks.WRITTEN_LINE.finditer(prose))
    for line, below in pairwise(lines):
        if HIDDEN not in line.group() and not below.group().startswith(HIDDEN) and _hands_over(line.group()):
            start = below.start()
            yield ForeignSpan(start, _end_of_paste(prose, start), ForeignKind.PASTED_TEXT, is_open=True)
            break
    if len(lines) > 1 and HIDDEN not in prose and _points_above(lines[-1].group()):
        yield ForeignSpan(0, lines[-2].end(), ForeignKind.PASTED_TEXT)
    for found in marks.REPORT.finditer(prose):
        yield ForeignSpan(found.start(1), found.end(1), ForeignKind.QUOTATION)
    start = 0
    for end in (found.end() for found in marks.SENTENCE_END.finditer(prose)):
        if marks.TASK.match(prose[start:end][: 2 * LONGEST_HEAD]):
            yield ForeignSpan(end, end, ForeignKind.PASTED_TEXT, is_open=True)
            return
        start = end


def _hands_over(line: str) -> bool:
    """Return True for a task over the text below, or a question about it."""
    said = line.strip()
    if not 4 <= len(said) <= 2 * LONGEST_HEAD or "://" in said:
        return False
    last = f"{last_clause(said[:-1])}{said[-1:]}".strip()
    return bool(
        marks.TASK.match(last)
        or (marks.REQUEST.match(last) and marks.POINTS.search(last))
        or marks.PRESENTS.search(last)
        or (last.endswith("?") and marks.POINTS_AT_TEXT.search(said))
    )


def _points_above(request: str) -> bool:
    if len(request) > 2 * LONGEST_HEAD or not marks.POINTS_AT_TEXT.search(request):
        return False
    return request.rstrip().endswith("?") or bool(marks.TASK.match(request) or marks.REQUEST.match(request))


# ---- Quotations, except titles and single words


def _quotations(prose: str) -> Iterator[ForeignSpan]:
    """Yield quoted sentences, and any quoted text after a verb of speaking."""
    closings, place = _closings_of(prose), 0
    for found in marks.MARK.finditer(prose):
        start, mark = found.start(), found.group()
        before, after = prose[max(0, start - 30) : start], prose[start + 1 : start + 2]
        opens = mark in marks.PAIRS and (before[-1:] or " ") in marks.BEFORE_OPENING and (after.strip() or mark == "«")
        if start < place or not opens:
            continue
        is_said = marks.SAYS.search(before) is not None
        # A single one opens before a capital, after , or : or a verb of speaking.
        if mark in marks.SINGLE and not (after.isupper() or is_said or before[-3:].rstrip().endswith((",", ":"))):
            continue
        end = _end_of_quotation(prose, closings, start)
        if end > start and (is_said or marks.IS_SPEECH.search(prose[start:end])):
            place = end
            yield ForeignSpan(start, end, ForeignKind.QUOTATION)


@lru_cache(maxsize=8)
def _closings_of(prose: str) -> dict[str, list[int]]:
    """Return the positions at which quotations may end, by mark."""
    closings: dict[str, list[int]] = {mark: [] for mark in marks.QUOTATION_MARKS}
    for found in marks.MARK.finditer(prose):
        place = found.start()
        follows_text = found.group() == "»" or prose[max(0, place - 1) : place].strip()
        if (prose[place + 1 : place + 2] or " ") in marks.AFTER_CLOSING and follows_text:
            closings[found.group()].append(place)
    return closings


def _end_of_quotation(prose: str, closings: dict[str, list[int]], start: int) -> int:
    """Return the end of a quotation; without a closing mark, that of the paragraph after a colon, else its start."""
    places = [closings[mark] for mark in marks.PAIRS.get(prose[start], prose[start])]
    nearest = min((each[at] for each in places if (at := bisect_right(each, start + 1)) < len(each)), default=-1)
    if 0 <= nearest <= start + _LONGEST_QUOTATION:
        return nearest + 1
    return paragraph_end(prose, start) if prose[max(0, start - 3) : start].rstrip().endswith(":") else start


# ---- Role play: the words in a scene are those of a role, in one turn or over several


def _is_in_scene(earlier: Iterable[str]) -> bool:
    """Return True if an earlier turn has opened a scene for two that has not been closed since."""
    playing = False
    for text in earlier:
        opened, closed = (
            max((found.end() for found in each.finditer(text)), default=-1)
            for each in (marks.SCENE_OPENS, marks.SCENE_CLOSES)
        )
        playing = playing if opened == closed else opened > closed
    return playing


def _scenes(prose: str, *, is_playing: bool) -> Iterator[ForeignSpan]:
    """Yield the text of a scene, from the words that open it to those that close it, or of a given role."""
    place = 0
    if is_playing:
        place = _end_of_scene(prose, 0)
        yield ForeignSpan(0, place, ForeignKind.ROLE_PLAY)
    while opening := marks.SCENE_OPENS.search(prose, place):
        place = _end_of_scene(prose, opening.end())
        yield ForeignSpan(opening.start(), place, ForeignKind.ROLE_PLAY)
    for opening in (*marks.SCENE_ALONE.finditer(prose), *marks.PLAYS_A_NAME.finditer(prose)):
        if HIDDEN not in opening.group():
            end = min(paragraph_end(prose, opening.end()), _end_of_scene(prose, opening.end()))
            yield ForeignSpan(opening.start(), end, ForeignKind.ROLE_PLAY)


def _end_of_scene(prose: str, start: int) -> int:
    closing = marks.SCENE_CLOSES.search(prose, start)
    return int(closing.end()) if closing else len(prose)


_MARKED = (
    (ForeignKind.TRANSCRIPT, marks.TIMED_MESSAGE),
    (ForeignKind.CODE, marks.OPENS_PARAGRAPH),
    (ForeignKind.CODE, marks.DIFF_OPENS),
    (ForeignKind.CODE, marks.COMMENT),
    (ForeignKind.QUOTED_LINES, marks.QUOTED),
    (ForeignKind.DATA, marks.DATA),
)
_STEPS: tuple[_Step, ...] = (
    _region(ForeignKind.CODE, marks.FENCES),
    _json,
    _roles,
    _region(ForeignKind.MARKUP, marks.ELEMENT),
    _region(ForeignKind.MARKUP, marks.TAG),
    _marked_lines,
    _region(ForeignKind.PASTED_TEXT, marks.BRACKETED),
    _region(ForeignKind.PASTED_TEXT, marks.DELIMITED),
    _mails,
    _region(ForeignKind.PASTED_TEXT, marks.FIELDS),
    _labelled,
    _tasks,
    _quotations,
)
