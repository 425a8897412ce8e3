"""Find a speaker's own words in a turn by its structure: each step hides one kind of others' words from the next ones.

What can't be told from own words with certainty, after a task or a paste, is RESUMED: it replaces nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

import re2

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.provenance import marks
from apps.pipeline.provenance.orders import orders_agent

HIDDEN = "\x00"  # replaces each character of a span, so that positions in prose and text are the same
_LAST_LATIN = "\u024f"  # scripts after it don't put spaces between words
_LONGEST_HEAD, _MOST_COLONS = 160, 100  # characters of a label; texts with more colons are data
_LONGEST_SAID = 600  # characters after a label
_LEAST_REQUEST = 4  # words; a shorter paragraph may be a greeting
_BULLETS = " \t*-•"
_SURROGATE = re.compile(r"[\ud800-\udfff]")  # which RE2 can't read
_COLON = re2.compile(r":(?:\*\*)?(?:[ \t]|$|\n|[\"“”„«'‘‚\x00])")
_GAP, _BLANK_LINE = re2.compile(r"\n\s*"), re2.compile(r"\n[ \t]*\n\s*")
_WRITTEN_LINE = re2.compile(r"(?m)^[^\n]*\S[^\n]*$")
_SENTENCE_END, _QUESTION = re2.compile(r"[.!?…](?:\s|$)|\n"), re2.compile(r"\?\s+")
_POSTSCRIPT = re2.compile(r"(?i)^[ \t]*p\.? ?s\b")


class ForeignKind(StrEnum):
    """The source of words that are not the speaker's own."""

    MARKED = "code, data or quoted lines"
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

    def segments(self) -> list[str]:
        """Return the speaker's own words, split at others' words."""
        return [part for part in self.prose.split(HIDDEN) if part.strip()]

    def foreign_texts(self) -> list[str]:
        """Return others' words."""
        return [self.text[span.start : span.end] for span in self.spans]

    def standing_of(self, quote: str) -> Standing:
        """Return whose words a quote is: OWN if it stands in both, or if it is no quote of the text at all."""
        if self.has_own(quote, end=self.resumes_at):
            return Standing.OWN
        if self.has_own(quote):
            return Standing.RESUMED
        return Standing.OTHERS if _holds(self.text, quote) else Standing.OWN

    def has_own(self, quote: str, *, end: int | None = None) -> bool:
        """Return True if all parts of a quote stand in the speaker's own words up to a position."""
        return _holds(self.prose[:end], quote)

    def kind_of(self, quote: str) -> ForeignKind:
        """Return the kind of others' words that contain a quote or part of it."""
        wanted, texts = canonical_text(quote), map(canonical_text, self.foreign_texts())
        holding = (span.kind for span, text in zip(self.spans, texts, strict=True) if wanted in text)
        return next(holding, self.spans[0].kind if self.spans else ForeignKind.QUOTATION)


def _holds(prose: str, quote: str) -> bool:
    folded = _folded(prose)
    parts = filter(None, map(canonical_text, quote.split("…")))
    return all(any((part if part[0] > _LAST_LATIN else f" {part}") in each for each in folded) for part in parts)


@lru_cache(maxsize=64)
def _folded(prose: str) -> tuple[str, ...]:
    return tuple(f" {canonical_text(segment)} " for segment in prose.split(HIDDEN) if segment.strip())


def words_of(turn: SourceTurn, *, earlier: Sequence[SourceTurn] = ()) -> TurnWords:
    """Return the words of a turn; in `earlier` turns, oldest first, the same speaker may have opened a scene.

    A turn whose speaker has the name of a role ("System") has no own words.
    """
    speaker = turn.speaker.strip()
    if speaker.casefold() not in ("user", "human") and marks.IS_ROLE.match(speaker):
        span = ForeignSpan(0, len(turn.content), ForeignKind.FORGED_ROLE)
        return TurnWords(turn.content, (span,), HIDDEN * len(turn.content))
    is_playing = False
    for each in (each for each in earlier if (each.role, each.speaker) == (turn.role, turn.speaker)):
        opened, closed = (
            max((found.end() for found in pattern.finditer(_SURROGATE.sub(HIDDEN, each.content))), default=-1)
            for pattern in (marks.SCENE_OPENS, marks.SCENE_CLOSES)
        )
        is_playing = is_playing if opened == closed else opened > closed
    return read_words(turn.content, is_playing=is_playing)


@lru_cache(maxsize=64)
def read_words(text: str, *, is_playing: bool = False) -> TurnWords:
    """Find the spans of a text that are not its author's own words, in time linear in its length."""
    prose = readable = _SURROGATE.sub(HIDDEN, text)
    spans: list[ForeignSpan] = []

    def hide(found: Iterable[ForeignSpan]) -> None:
        nonlocal prose
        pieces, place = [], 0
        found = sorted(found, key=lambda each: each.start)
        for span in found:
            start = max(place, span.start)
            if span.end > start:
                pieces += [prose[place:start], HIDDEN * (span.end - start)]
                place = span.end
        prose = "".join((*pieces, prose[place:]))
        spans.extend(found)

    for pattern in marks.MARKED:
        hide(ForeignSpan(found.start(), found.end(), ForeignKind.MARKED) for found in pattern.finditer(prose))
    hide(_rows(prose))
    hide(_pastes(prose, marks.ROLE, ForeignKind.FORGED_ROLE))
    hide(_pastes(prose, marks.MAIL, ForeignKind.PASTED_TEXT))
    hide(_quotations(prose))
    hide(_labelled(prose))
    hide(_tasks(prose))
    hide(_scenes(prose, is_playing=is_playing))
    characters = list(prose)
    for span in spans:  # a new sentence begins after a quotation that ends one
        is_sentence = marks.ENDS_SENTENCE.search(readable[max(span.start, span.end - 4) : span.end])
        if span.kind is ForeignKind.QUOTATION and is_sentence and text[span.end :].strip():
            characters[span.end - 1] = "\n"
    return TurnWords(text, tuple(spans), "".join(characters))


def _rows(prose: str) -> Iterator[ForeignSpan]:
    """Yield lines that have as many cells as one beside them."""
    lines = prose.split("\n")
    cells = [0, *(len(marks.CELL_END.findall(line)) for line in lines), 0]
    start = 0
    for number, line in enumerate(lines, start=1):
        if cells[number] and cells[number] in (cells[number - 1], cells[number + 1]):
            yield ForeignSpan(start, start + len(line), ForeignKind.MARKED)
        start += len(line) + 1


def _pastes(prose: str, opening: "re2._Regexp[str]", kind: ForeignKind) -> Iterator[ForeignSpan]:
    """Yield each text from a mark that opens it until the speaker resumes."""
    place = 0
    while found := opening.search(prose, place):
        place = max(_end_of_paste(prose, found.start()), found.start() + 1)
        yield ForeignSpan(found.start(), place, kind, is_open=True)


def _end_of_paste(prose: str, start: int) -> int:
    """Return where a signature has ended, or a line changes the subject; often the end of the text."""
    signed = marks.SIGN_OFF.search(prose, start)
    for gap in _GAP.finditer(prose, start):
        following = prose[gap.end() : gap.end() + _LONGEST_HEAD]
        is_after_signature = signed is not None and signed.end() <= gap.start() and gap.group().count("\n") > 1
        if is_after_signature and not following.startswith(HIDDEN) and not _POSTSCRIPT.match(following):
            return int(gap.end())
        if marks.RESUMES.match(following):
            return int(gap.end())
    return len(prose)


def _quotations(prose: str) -> Iterator[ForeignSpan]:
    """Yield quoted sentences, and any quoted text after a verb of speaking; titles and single words are the speaker's."""
    for found in marks.QUOTATION.finditer(prose):
        start, end = found.span(found.lastindex)
        if marks.IS_SPEECH.search(prose[start:end]) or marks.ENDS_WITH_VERB.search(prose[max(0, start - 30) : start]):
            yield ForeignSpan(start, end, ForeignKind.QUOTATION)


# ---- Texts after a label or a task


def _labelled(prose: str) -> Iterator[ForeignSpan]:
    """Yield texts after a label that is not the speaker's: "My landlord wrote me: …", "OCR of the letter: …"."""
    place = 0
    for number, colon in enumerate(_COLON.finditer(prose)):
        if number >= _MOST_COLONS:
            yield ForeignSpan(colon.start(), len(prose), ForeignKind.MARKED)
            return
        start = colon.start() + 1
        head = _last_clause(prose[max(0, start - 1 - _LONGEST_HEAD) : start - 1]).strip()
        following = prose[start:].lstrip(" \t*")
        if start <= place or is_own_label(head) or following.startswith((HIDDEN, "http")):
            continue
        begins = len(prose) - len(following.lstrip())
        is_below, is_announced = following.startswith("\n"), announces(head)
        if not is_announced and not _is_name(head, prose, start):
            continue
        if is_below and is_announced:
            place = _end_of_paste(prose, begins)
        elif is_below or is_announced:
            place = paragraph_end(prose, begins)
        else:
            line_end = prose.find("\n", begins)
            place = line_end if line_end >= 0 else len(prose)
        said = prose[begins:place]
        if is_announced or not said or in_first_person(said) or orders_agent(said):
            yield ForeignSpan(start, place, ForeignKind.PASTED_TEXT, is_open=True)


def is_own_label(head: str) -> bool:
    """Return True if words before a colon are the speaker's own: "Update", "About me", "The thing is"."""
    if not head or marks.INTRODUCES_SELF.search(head) or marks.RESUMES.search(head):
        return True
    return not announces(head) and (in_first_person(head) or not marks.OWN_LABELS.isdisjoint(_words(head)))


def announces(head: str) -> bool:
    """Return True if words before a colon announce a text: by a verb of speaking, a source, or a task over a text."""
    is_request = marks.REQUEST.match(head) and not in_first_person(head)
    if is_request or any(pattern.search(head) for pattern in (marks.SPEAKS, marks.TASK, marks.POINTS)):
        return True
    return marks.SOURCE_NOUN.search(head) is not None and _words(head)[-1] not in marks.OWN_LABELS


def without_label(sentence: str) -> str:
    """Return what follows a label of the speaker's own: "Reminder: I'm vegan", "As I said, I'm vegan"."""
    label, _, said = sentence.partition(": ")
    if said and is_own_label(label) and not in_first_person(label):
        return said
    repeated = marks.AS_I_SAID.match(sentence)
    return sentence[repeated.end() :] if repeated else sentence


def in_first_person(text: str) -> bool:
    """Return True if a text speaks of its speaker."""
    return marks.FIRST_PERSON.search(text) is not None


def _is_name(head: str, prose: str, start: int) -> bool:
    """Return True for a name, or a thing that may have a text on it, which opens a line: "bob", "The cookie"."""
    line_start = prose.rfind("\n", 0, start) + 1
    words = head.lstrip(_BULLETS).split()
    if not words or len(words) > 4 or not prose[line_start:start].lstrip(_BULLETS).startswith(head.lstrip(_BULLETS)):
        return False
    is_thing = words[0].casefold() in ("the", "this", "that", "der", "die", "das", "le", "la", "el")
    is_numbered = any(word[0].isdigit() for word in words)
    is_of_name = words[-1][0].isupper() and not {"of", "from", "by", "via", "von", "de"}.isdisjoint(words)
    return len(words) == 1 or is_thing or is_numbered or is_of_name or all(word[0].isupper() for word in words)


def _tasks(prose: str) -> Iterator[ForeignSpan]:
    """Yield the material of a task: what stands below the request, or above a last one; what follows is uncertain."""
    lines = list(_WRITTEN_LINE.finditer(prose))
    for line, below in pairwise(lines):
        if HIDDEN not in line.group() and not below.group().startswith(HIDDEN) and _hands_over(line.group().strip()):
            start = below.start()
            yield ForeignSpan(start, _end_of_paste(prose, start), ForeignKind.PASTED_TEXT, is_open=True)
            break
    if len(lines) > 1 and HIDDEN not in prose:
        last = lines[-1].group().strip()
        if marks.POINTS.search(last) and (last.endswith("?") or marks.TASK.match(last) or marks.REQUEST.match(last)):
            yield ForeignSpan(0, lines[-2].end(), ForeignKind.PASTED_TEXT)
    for found in marks.REPORT.finditer(prose):
        yield ForeignSpan(found.start(1), found.end(1), ForeignKind.QUOTATION)
    start = 0
    for end in (found.end() for found in _SENTENCE_END.finditer(prose)):
        if marks.TASK.match(prose[start:end][: 2 * _LONGEST_HEAD]):
            yield ForeignSpan(end, end, ForeignKind.PASTED_TEXT, is_open=True)
            return
        start = end


def _hands_over(line: str) -> bool:
    """Return True for a task over the text below, or a question about it."""
    if not 4 <= len(line) <= 2 * _LONGEST_HEAD or "://" in line:
        return False
    last = f"{_last_clause(line[:-1])}{line[-1:]}".strip()
    if marks.TASK.match(last):
        return True
    if marks.POINTS.search(line):
        return last[-1] in "?:" or marks.REQUEST.match(last) is not None or not in_first_person(line)
    return marks.REQUEST.match(last) is not None and marks.POINTS_BELOW.search(last) is not None


# ---- Role play: the words in a scene are those of a role, in one turn or over several


def _scenes(prose: str, *, is_playing: bool) -> Iterator[ForeignSpan]:
    """Yield the text of a scene, from the words that open it to those that close it, or of a given role."""
    openings = [0] if is_playing else []
    openings += [found.start() for found in marks.SCENE_OPENS.finditer(prose)]
    place = 0
    for start in openings:
        if start >= place:
            closing = marks.SCENE_CLOSES.search(prose, start)
            place = int(closing.end()) if closing else len(prose)
            yield ForeignSpan(start, place, ForeignKind.ROLE_PLAY)
    for opening in marks.SCENE_ALONE.finditer(prose):
        if HIDDEN not in opening.group():
            closing = marks.SCENE_CLOSES.search(prose, opening.end())
            end = min(paragraph_end(prose, opening.end()), int(closing.end()) if closing else len(prose))
            yield ForeignSpan(opening.start(), end, ForeignKind.ROLE_PLAY)


# ---- Plain talk: without a model, a statement is only certain where no sign of a text that is handed over precedes it.
# What follows the first sign waits for a reviewer: a look costs less than a false memory.


def is_plain_talk(words: TurnWords, quote: str) -> bool:
    """Return True if a quote stands in what is plainly the author's talk; as words that don't occur are no quote."""
    return words.has_own(quote, end=talk_end(words.prose)) or not words.has_own(quote)


@lru_cache(maxsize=64)
def talk_end(prose: str) -> int:
    """Return where a message stops to be plainly its author's talk; `prose` has others' words hidden."""
    if marks.GIVES_ROLE.match(prose):
        return 0
    ends = [len(prose)]
    if layout := marks.LAYOUT.search(prose):
        ends.append(max(0, prose.rfind("\n\n", 0, layout.start())))
    opening = prose[: paragraph_end(prose, 0)]
    if HIDDEN not in opening and len(opening.split()) >= _LEAST_REQUEST and not in_first_person(opening):
        ends.append(len(opening))
    material = prose.find(HIDDEN)
    for found in _QUESTION.finditer(prose):  # that may be about the text below, not about material above
        asked = _last_clause(prose[max(0, found.start() - _LONGEST_HEAD) : found.start()])
        if not 0 <= material <= found.end() and not in_first_person(asked):
            ends.append(found.end())
            break
    for found in marks.INTRODUCES.finditer(prose):  # what speaks of somebody or orders an agent
        label = _last_clause(prose[max(0, found.start() - _LONGEST_HEAD) : found.start()])
        following = prose[found.end() : found.end() + _LONGEST_SAID]
        said = following[: paragraph_end(following, 0)]
        is_own = not marks.LETS.search(label) and is_own_label(label.strip())
        if not is_own and not said.startswith(HIDDEN) and (in_first_person(said) or orders_agent(said)):
            ends.append(found.start() - len(label))
            break
    return min(ends)


# ---- Parts of a text


def paragraph_end(prose: str, place: int) -> int:
    """Return where the paragraph at a position ends."""
    gap = _BLANK_LINE.search(prose, place)
    return int(gap.start()) if gap else len(prose)


def _last_clause(text: str) -> str:
    """Return what stands after the last sign that ends a clause."""
    return text[max(text.rfind(mark) for mark in f".!?…\n;{HIDDEN}") + 1 :]


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?*()[]-–—\"'") for word in text.casefold().split()]
