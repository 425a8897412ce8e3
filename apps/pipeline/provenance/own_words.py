"""Find a speaker's own words in a turn, by structure: one step per kind of others' words, each on what is left.

What can't be told from own words with certainty, after a task or a paste, is RESUMED: it replaces nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import re2

from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.provenance import marks
from apps.pipeline.provenance.orders import orders_agent
from apps.pipeline.provenance.quotations import closings_of, end_of_quotation, quotations
from apps.pipeline.provenance.role_play import end_of_scene, is_in_scene, scenes
from apps.pipeline.provenance.spans import (
    HIDDEN,
    ForeignKind,
    ForeignSpan,
    Line,
    TurnWords,
    hide,
    line_at,
    lines_of,
    paragraph_end,
)

_LONGEST_HEAD, _MOST_COLONS = 160, 100  # characters of a label; texts with more colons are data
_SIGNATURE_LINES, _SIGNATURE_WORDS = 4, 6


def words_of(turn: SourceTurn, *, earlier: Sequence[SourceTurn] = ()) -> TurnWords:
    """Return the words of a turn; `earlier` are turns of the same speaker, oldest first, which may have opened a scene.

    A turn whose speaker has the name of a role ("System") has no own words.
    """
    if claims_role(turn.speaker):
        span = ForeignSpan(0, len(turn.content), ForeignKind.FORGED_ROLE)
        return TurnWords(turn.content, (span,), HIDDEN * len(turn.content))
    return read_words(turn.content, is_playing=is_in_scene(printable(each.content) for each in earlier))


@lru_cache(maxsize=64)
def read_words(text: str, *, is_playing: bool = False) -> TurnWords:
    """Find the spans of a text that are not its author's own words, in time linear in its length."""
    prose = printable(text.replace(HIDDEN, " "))
    spans: list[ForeignSpan] = []
    for step in _STEPS:
        found = tuple(step(prose))
        spans += found
        prose = hide(prose, found)
    played = tuple(scenes(prose, is_playing=is_playing))
    prose = hide(prose, played)
    return TurnWords(text, (*spans, *played), _cut_after_quotations(prose, text, spans))


def spoken_outside_scenes(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> str:
    """Return at most `most` characters of a turn, outside of a scene that an earlier turn has opened.

    A turn whose speaker has the name of a role has no text.
    """
    text = printable(turn.content[:most])
    if claims_role(turn.speaker):
        return ""
    return text[end_of_scene(text) :] if is_in_scene(printable(each.content) for each in earlier) else text


def printable(text: str) -> str:
    """Return a text with lone surrogates hidden."""
    return marks.NO_CHARACTER.sub(HIDDEN, text)


def claims_role(speaker: str) -> bool:
    """Return True if a speaker has the name of a role: such a name must not increase trust."""
    return speaker.strip().casefold() not in ("user", "human") and marks.IS_ROLE.match(speaker.strip()) is not None


def _cut_after_quotations(prose: str, text: str, spans: Sequence[ForeignSpan]) -> str:
    """Put a line break at the end of each quotation that ends a sentence, so that a new sentence begins after it."""
    characters = list(prose)
    for span in spans:
        ends_sentence = marks.ENDS_SENTENCE.search(text[max(span.start, span.end - 4) : span.end])
        if span.kind is ForeignKind.QUOTATION and ends_sentence and text[span.end :].strip():
            characters[span.end - 1] = "\n"
    return "".join(characters)


def _region(kind: ForeignKind, pattern: "re2._Regexp[str]") -> Callable[[str], Iterator[ForeignSpan]]:
    """Return a step that yields what a pattern matches."""

    def found_in(prose: str) -> Iterator[ForeignSpan]:
        for found in pattern.finditer(prose):
            yield ForeignSpan(found.start(), found.end(), kind)

    return found_in


def _json(prose: str) -> Iterator[ForeignSpan]:
    """Yield JSON, from its first bracket to the matching one, or to the end if that is missing."""
    place = 0
    for opening in marks.JSON_OPENS.finditer(prose):
        if opening.start() >= place:
            start, place, depth = opening.start(), len(prose), 0
            for bracket in marks.BRACKET.finditer(prose, start):
                depth += 1 if bracket.group() in "{[" else -1
                if depth == 0:
                    place = bracket.end()
                    break
            yield ForeignSpan(start, place, ForeignKind.DATA)


def _markup(prose: str) -> Iterator[ForeignSpan]:
    """Yield elements from the first tag to the last closing tag; after a single tag, the rest of its paragraph."""
    ends, lines = 0, lines_of(prose)
    for found in marks.ELEMENT.finditer(prose):
        ends = found.end()
        yield ForeignSpan(found.start(), ends, ForeignKind.MARKUP)
    for found in marks.TAG.finditer(prose, ends):
        if found.start() >= ends and not marks.MAIL_ADDRESS.match(found.group()):
            line = line_at(lines, found.start())
            opens_line = not prose[lines[line].start : found.start()].strip()
            ends = paragraph_end(lines, line) if opens_line else found.end()
            yield ForeignSpan(found.start(), ends, ForeignKind.MARKUP)


def _marked_lines(prose: str) -> Iterator[ForeignSpan]:
    """Yield comments, logs, quoted lines, rows of tables, diffs, and the messages of chats with all their lines."""
    lines, ends, in_diff = lines_of(prose), 0, False
    for number, line in enumerate(lines):
        if line.is_blank or line.start < ends:
            continue
        is_marked = marks.ANY_MARK.search(line.text) is not None
        found = (kind for kind, pattern in marks.MARKED if pattern.search(line.text))
        kind = next(found, None) if is_marked else None
        if kind is None and in_diff and marks.DIFF_LINE.match(line.text):
            kind = ForeignKind.CODE
        in_diff = kind is ForeignKind.CODE and (in_diff or marks.DIFF_OPENS.match(line.text) is not None)
        if kind is None and (_is_row(lines, number) or _is_stamped(lines, number)):
            kind = ForeignKind.DATA
        if kind is None and _is_chat(lines, number):
            kind = ForeignKind.TRANSCRIPT
        if kind is not None:
            is_whole = kind is ForeignKind.TRANSCRIPT or marks.OPENS_PARAGRAPH.match(line.text)
            ends = paragraph_end(lines, number) if is_whole else line.end
            yield ForeignSpan(line.start, ends, kind)


def _is_row(lines: Sequence[Line], number: int) -> bool:
    """Return True if a line has as many cells as one beside it, or several after a short first one."""
    cells = _cells(lines[number].text)
    first = marks.FIRST_CELL.match(lines[number].text) if cells else None
    is_alone = cells > 1 and first is not None and not in_first_person(first.group())
    return cells > 0 and (is_alone or any(_cells(each) == cells for each in _beside(lines, number)))


def _is_stamped(lines: Sequence[Line], number: int) -> bool:
    """Return True if a line and one beside it begin with a time."""
    return bool(marks.STAMPED.match(lines[number].text)) and any(map(marks.STAMPED.match, _beside(lines, number)))


def _beside(lines: Sequence[Line], number: int) -> list[str]:
    return [each.text for each in (*lines[max(0, number - 1) : number], *lines[number + 1 : number + 2])]


def _cells(line: str) -> int:
    return sum(1 for _ in marks.CELL_END.finditer(line)) if marks.SEPARATORS.intersection(line) else 0


def _is_chat(lines: Sequence[Line], number: int) -> bool:
    """Return True if two lines in a row begin with a name and a colon."""
    return number + 1 < len(lines) and _has_name(lines[number]) and _has_name(lines[number + 1])


def _has_name(line: Line) -> bool:
    found = marks.NAMED_MESSAGE.match(line.text) if ":" in line.text else None
    return (
        found is not None
        and marks.OWN_LABELS.isdisjoint(_words(found["name"]))
        and not marks.IS_HEADER.match(found["name"])
    )


def _roles(prose: str) -> Iterator[ForeignSpan]:
    """Yield text under the marker of a role, or addressed to an extractor, until the speaker resumes."""
    starts = [found.start() for found in marks.ROLE.finditer(prose)]
    return _pastes(prose, starts, ForeignKind.FORGED_ROLE, within_paragraph=True)


def _mails(prose: str) -> Iterator[ForeignSpan]:
    """Yield each pasted mail or letter, from its header or salutation until the speaker resumes."""
    lines = lines_of(prose)
    written = [number for number, line in enumerate(lines) if not line.is_blank]
    signed = [
        number for number in written if _signs_off(lines[number]) and _after_signature(lines, number) <= written[-1]
    ]
    last = lines[signed[-1]].start if signed else -1
    greetings = [found.start() for found in marks.GREETING.finditer(prose) if found.start() < last]
    starts = sorted((*greetings, *(found.start() for found in marks.MAIL.finditer(prose))))
    return _pastes(prose, starts, ForeignKind.MAIL)


def _pastes(
    prose: str, starts: Iterable[int], kind: ForeignKind, *, within_paragraph: bool = False
) -> Iterator[ForeignSpan]:
    place, lines = 0, lines_of(prose)
    for start in starts:
        if start >= place:
            place = max(_end_of_paste(lines, start, within_paragraph=within_paragraph), start + 1)
            yield ForeignSpan(start, place, kind, is_open=True)


def _end_of_paste(lines: Sequence[Line], start: int, *, within_paragraph: bool = False) -> int:
    """Return the end of pasted text: a signature, or a change of subject; often the end of the text."""
    is_signed, number = False, line_at(lines, start)
    while number < len(lines):
        line = lines[number]
        if _signs_off(line):
            number, is_signed = _after_signature(lines, number), True
            continue
        begins = line.start > start and not line.is_blank
        resumes = begins and marks.RESUMES.match(line.text) is not None
        is_postscript = marks.POSTSCRIPT.match(line.text) or line.text.lstrip().startswith(HIDDEN)
        if begins and lines[number - 1].is_blank and not is_postscript and (is_signed or resumes):
            return line.start
        if begins and within_paragraph and resumes:
            return line.start
        number += 1
    return lines[-1].end


def _signs_off(line: Line) -> bool:
    return not line.is_blank and marks.SIGN_OFF.match(line.text) is not None


def _after_signature(lines: Sequence[Line], number: int) -> int:
    """Return the number of the line after a sign-off and the short lines of a signature."""
    last = number
    for line in lines[number + 1 : number + 1 + _SIGNATURE_LINES]:
        if line.is_blank or len(line.text.split()) > _SIGNATURE_WORDS:
            break
        last += 1
    return last + 1


def _labelled(prose: str) -> Iterator[ForeignSpan]:
    """Yield texts after a label that is not the speaker: "My landlord wrote me: …", "OCR of the letter: …"."""
    place, lines = 0, lines_of(prose)
    for number, colon in enumerate(marks.COLON.finditer(prose)):
        if colon.start() < place:
            continue
        if number >= _MOST_COLONS:
            yield ForeignSpan(colon.start(), len(prose), ForeignKind.DATA)
            return
        head = _last_clause(prose[max(0, colon.start() - _LONGEST_HEAD) : colon.start()].rpartition(HIDDEN)[2]).strip()
        line = lines[line_at(lines, colon.start())]
        is_announced = announces(head)
        if is_own_label(head) or prose.startswith("http", colon.end()):
            continue
        if is_announced or _names_source(head, line=line, colon=colon.start()):
            span = _text_after(prose, lines, colon.start() + 1, is_announced=is_announced)
            place = span.end
            yield span


def is_own_label(head: str) -> bool:
    """Return True if words before a colon are the speaker's own: "Update", "About me", "The thing is"."""
    if not head or any(each.search(head) for each in (marks.ABOUT_SPEAKER, marks.SPEAKS_SELF, marks.RESUMES)):
        return True
    return not announces(head) and (in_first_person(head) or not marks.OWN_LABELS.isdisjoint(_words(head)))


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
    return source.end() < len(head) or not (is_plain or marks.MINE.search(head))


def in_first_person(text: str) -> bool:
    """Return True if a text speaks of its speaker."""
    return marks.FIRST_PERSON.search(text) is not None


def _names_source(head: str, *, line: Line, colon: int) -> bool:
    """Return True if a line begins with what may be a name or a thing with a text on it: "bob: I …"."""
    if not line.text.lstrip(marks.BULLETS).startswith(head.lstrip(marks.BULLETS)) or not _is_name(head):
        return False
    said = line.text[colon - line.start + 1 :]
    return not said.strip() or in_first_person(said) or orders_agent(said)


def _is_name(head: str) -> bool:
    """Return True for one word, capitalised ones, "Wisdom of Lee", and "the cookie"."""
    words = [word.lstrip(marks.BULLETS) for word in head.split()]
    if len(words) > 4 and not marks.SOURCE_NOUN.search(head):
        return False
    is_thing = len(words) > 1 and words[0].casefold() in ("the", "this", "that", "der", "die", "das", "le", "la", "el")
    return (
        len(words) == 1
        or is_thing
        or all(each[:1].isupper() for each in words)
        or marks.OF_A_NAME.search(head) is not None
    )


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?*()[]-–—\"'") for word in text.casefold().split()]


def _last_clause(text: str) -> str:
    return text[max(text.rfind(mark) for mark in marks.CLAUSE_ENDS) + 1 :]


def _text_after(prose: str, lines: Sequence[Line], start: int, *, is_announced: bool) -> ForeignSpan:
    """Return the text after a colon: a quotation, a line, a paragraph, or everything until the speaker resumes."""
    text = marks.TEXT_BEGINS.search(prose, start)
    if text is None:
        return ForeignSpan(start, len(prose), ForeignKind.PASTED_TEXT)
    if text.group() in marks.QUOTATION_MARKS:
        end = end_of_quotation(prose, closings_of(prose), text.start())
        return ForeignSpan(start, end if end > text.start() else len(prose), ForeignKind.QUOTATION)
    line = line_at(lines, text.start())
    if "\n" not in prose[start : text.start()]:
        end = paragraph_end(lines, line) if is_announced else lines[line].end
    else:
        end = _end_of_paste(lines, text.start()) if is_announced else paragraph_end(lines, line)
    return ForeignSpan(start, end, ForeignKind.PASTED_TEXT, is_open=True)


def _tasks(prose: str) -> Iterator[ForeignSpan]:
    """Yield the material of a task: what stands below the request, or above a last one; what follows is uncertain."""
    lines = [line for line in lines_of(prose) if not line.is_blank]
    for line, below in pairwise(lines):
        if HIDDEN not in line.text and not below.text.lstrip().startswith(HIDDEN) and _hands_over(line.text):
            yield ForeignSpan(
                below.start, _end_of_paste(lines_of(prose), below.start), ForeignKind.PASTED_TEXT, is_open=True
            )
            break
    if len(lines) > 1 and HIDDEN not in prose and _points_above(lines[-1].text):
        yield ForeignSpan(0, lines[-2].end, ForeignKind.PASTED_TEXT)
    for found in marks.REPORT.finditer(prose):
        yield ForeignSpan(found.start(1), found.end(1), ForeignKind.QUOTATION)
    start = 0
    for end in (found.end() for found in marks.SENTENCE_END.finditer(prose)):
        if marks.TASK.match(prose[start:end][: 2 * _LONGEST_HEAD]):
            yield ForeignSpan(end, end, ForeignKind.PASTED_TEXT, is_open=True)
            return
        start = end


def _hands_over(line: str) -> bool:
    """Return True for a task over the text below, or a question about it."""
    if not 4 <= len(line) <= 2 * _LONGEST_HEAD or marks.ADDRESS.search(line):
        return False
    said = line.strip()
    last = f"{_last_clause(said[:-1])}{said[-1:]}".strip()
    requests = marks.REQUEST.match(last) is not None and marks.POINTS.search(last) is not None
    return bool(
        marks.TASK.match(last)
        or requests
        or marks.PRESENTS.search(last)
        or (last.endswith("?") and marks.POINTS_AT_TEXT.search(said))
    )


def _points_above(request: str) -> bool:
    if len(request) > 2 * _LONGEST_HEAD or not marks.POINTS_AT_TEXT.search(request):
        return False
    return request.rstrip().endswith("?") or bool(marks.TASK.match(request) or marks.REQUEST.match(request))


_STEPS: tuple[Callable[[str], Iterator[ForeignSpan]], ...] = (
    _region(ForeignKind.CODE, marks.FENCES),
    _json,
    _roles,
    _markup,
    _marked_lines,
    _region(ForeignKind.PASTED_TEXT, marks.BRACKETED),
    _region(ForeignKind.PASTED_TEXT, marks.DELIMITED),
    _mails,
    _region(ForeignKind.PASTED_TEXT, marks.FIELDS),
    _labelled,
    _tasks,
    quotations,
    _region(ForeignKind.ADDRESS, marks.ADDRESS),
)
