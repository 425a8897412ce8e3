"""Find a speaker's own words in a turn, by structure: one step per kind of others' words, each on what is left.

What can't be told from own words with certainty, after a task or a paste, is RESUMED: it replaces nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import re2

from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.provenance.orders import orders_agent
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
from apps.pipeline.provenance.vocabulary import (
    ABOUT_SPEAKER,
    FIRST_PERSON,
    MACHINE,
    OWN_LABELS,
    PLAYS_A_NAME,
    POINTS_AT_TEXT,
    PRESENTS,
    REQUEST,
    RESUMES,
    ROLE_FOR_THE_ASSISTANT,
    SCENE_ALONE,
    SCENE_CLOSES,
    SCENE_OPENS,
    SIGN_OFF,
    SOURCE,
    SPEAKS,
    SPEAKS_SELF,
    TASK,
    THIRD_PERSON,
)

_LONGEST_HEAD, _MOST_COLONS = 160, 100  # characters of a label; texts with more colons are data
_LONGEST_QUOTATION = 4_000  # maximal distance between two marks
_SIGNATURE_LINES, _SIGNATURE_WORDS = 4, 6
_NO_CHARACTER = re.compile(r"[\ud800-\udfff]")  # lone surrogates, which can't be encoded
_SENTENCE_END = re2.compile(r"[.!?…](?:\s|$)|\n")
_CLAUSE_ENDS = ".!?…\n;"

# ---- Regions with marks of their own
_FENCES = re2.compile(r"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)|\"\"\".*?(?:\"\"\"|\z)|'''.*?(?:'''|\z)|/\*.*?(?:\*/|\z)")
_JSON_OPENS, _BRACKET = re2.compile(r"\{\s*[\"'{\[]|\[\s*[\"{\[]"), re.compile(r"[{}\[\]]")
_ELEMENT = re2.compile(r"(?is)<[a-z!][^<>]*>.*</[a-z][^<>]*>|<!--.*?(?:-->|\z)|<!\[CDATA\[.*?(?:\]\]>|\z)")
_TAG, _MAIL_ADDRESS = re2.compile(r"<[a-zA-Z!/][^<>\n]*>"), re2.compile(r"<[^\s<>]+@[^\s<>]+>")
_BRACKETED = re2.compile(
    r"(?is)\[(?:start|begin)\b[^\]\n]*\].*?(?:\[(?:end|stop)\b[^\]\n]*\]|\z)|\[quote[^\]\n]*\].*?(?:\[/quote\]|\z)|\\begin\{.*?(?:\\end\{[^}\n]*\}|\z)|♪.*?(?:♪|\z)"
    r"|(?-i)(?m:^)[-=*# \t]*BEGIN\b[^\n]*\n.*?(?:\n[-=*# \t]*END\b[^\n]*|\z)"
)
_FIELDS = re2.compile(
    r"(?ims)^[ \t#*]*(?:context|passage|documents?|sources?|input|text|article|data|content|excerpt)[ \t]*\d*[*]*:.*?^[ \t#*]*(?:question|query|task|instructions?|answer|output)[*]*:"
)
_DELIMITER = re2.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|#{3,}|\+{3,}|~{3,})[ \t]*$")
_ADDRESS = re2.compile(r"https?://\S+")

# ---- Lines with marks of their own
_NAME = r"(?:\p{Lu}[\pL\w.'-]*(?: \p{Lu}[\pL\w.'-]*){0,2})"
_CLOCK = r"[\[(]?(?:[\d/.\-]{4,10}[,T]? ?)?\d{1,2}[:.]\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[apAP][mM])?[\])]?"
_STAMP = r"[\[(]?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?"
_STAMPED = re2.compile(rf"^[ \t]*{_STAMP}[ \t]+\pL")
_TIMED_MESSAGE = re2.compile(
    rf"^[ \t]*(?:{_CLOCK}[ \t,–-]*<?{_NAME}>?[ \t]*[:>]|{_NAME} ?(?:[—–-] ?)?[\[(]?\d{{1,2}}[:.]\d{{2}}(?: ?[apAP][mM])?[\])]?[ \t]*(?::|$)|{_NAME} ?[—–-] ?(?i:today|yesterday)[^\n]*)"
)
_NAMED_MESSAGE = re2.compile(rf"^[ \t*]*<?(?P<name>{_NAME})>?[*]*:[*]*[ \t]+\S")
_DIFF_OPENS = re2.compile(r"^(?:diff --git |--- (?:a/|/|\S+\.\w)|\+\+\+ \S|@@ )")
_DIFF_LINE = re2.compile(r"^(?:[-+@ \\]|index |diff )")
_COMMENT = re2.compile(r"^[ \t]*(?://|#+ |-- |;+ |<!--|rem )")
_QUOTED = re2.compile(r"^[ \t]*[>│┃]")
_DATA = re2.compile(
    rf"^[ \t]*(?:[\[(]?\d{{4}}-\d\d-\d\d[T ,]\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :\t]|[A-Z][a-z]{{2}} +\d{{1,2}} \d\d:\d\d:\d\d |\d{{1,3}}(?:\.\d{{1,3}}){{3}} - |Traceback \(most|File \"[^\"]+\", line \d|at [\w.$<>]+\("
    rf"|{_STAMP}[ \t]+(?:-->|[^\s:]+:?[ \t]+(?i:i|ich|je|yo)\b)|(?:\d+[a-f]|[a-f]+\d)[0-9a-f]{{5,38}} )|^[^|\n]*\|[^|\n]*\||[\x{{202A}}-\x{{202E}}\x{{2066}}-\x{{2069}}]"
)
# A shell's prompt, the time of a subtitle, the heading of a verse or section: what follows in the paragraph belongs to it.
_OPENS_PARAGRAPH = re2.compile(
    r"^[ \t]*(?:\$ |# (?:cat|ls|curl|tail|head)\b|>>> |\w+@[\w.-]+[:~][^$#\n]*[$#] |PS [A-Z]:\\|[\d:.,]+ --> |\[[\pL\d]+(?: [\pL\d]+){0,2}\][ \t]*$)"
)
_MARKED: tuple[tuple[ForeignKind, "re2._Regexp[str]"], ...] = (
    (ForeignKind.TRANSCRIPT, _TIMED_MESSAGE),
    (ForeignKind.CODE, _OPENS_PARAGRAPH),
    (ForeignKind.CODE, _DIFF_OPENS),
    (ForeignKind.CODE, _COMMENT),
    (ForeignKind.QUOTED_LINES, _QUOTED),
    (ForeignKind.DATA, _DATA),
)
_CELL_END = re2.compile(
    r"[,;](?:[^\s\d,;]|\d{1,2}\b|\d{4,})|\t|\"[,;]\""
)  # no space: "Liv,34", but not "Liv, 34" or "1,000"
_BULLETS = " \t*-•"

# ---- Pastes whose end is a guess
_HEADER = r"(?:from|to|cc|bcc|subject|date|sent|reply-to|author|von|an|kopie|gesendet|betreff|datum|de|à|objet|envoyé|para|asunto|fecha)"
_MAIL = re2.compile(
    rf"(?im)^[ \t*]*(?:{_HEADER}[ \t*]*:[^\n]+\n[ \t*]*{_HEADER}[ \t*]*:|(?:subject|betreff|objet|asunto)[ \t*]*:|(?:from|von|de)[ \t*]*:[^\n]*(?:@|$)|commit [0-9a-f]{{7,}}"
    r"|(?:on|am|le|el) [^\n]+ (?:wrote|schrieb[^\n:]*|a écrit|escribió) ?:[ \t]*$|-{2,}[ \t]*(?:original|forwarded|begin|weitergeleitet|ursprüngliche|message transféré)[^\n]*$|begin forwarded message|fwd?: [^\n]+$"
    r"|(?:dear|sehr geehrte[rs]?|estimad[oa]|chers?|chère) [^\n]+?,?[ \t]*$)|(?-i:[.?!:][ \t]+(?:From|Subject|Von|Betreff|De|Objet):[ \t]*\S)"
)
_IS_HEADER = re2.compile(rf"(?i)^{_HEADER}$")
_GREETING = re2.compile(
    r"(?im)^[ \t]*(?:hi|hello|hey|hallo|guten tag|bonjour|salut|hola|ciao)\b[^\n,.!?]{0,40},[ \t]*$"
)
_KIND_OF_NOTE = (
    r"(?:message|note|prompt|result|output|response|override|update|says|instructions?|notice|alert|log|entry)"
)
_ROLE = re2.compile(
    rf"(?im)^[ \t]*[\[<|*#({{]*[ \t]*{MACHINE}(?:[ _-]{_KIND_OF_NOTE}){{0,2}}(?: (?:to|for) [^:\n]{{1,60}})?[ \t]*[\])>|*]*:|^[ \t]*[\[(]{MACHINE}(?:[ _-]\w+){{0,2}}[\])]|^[ \t]*\"?role\"?[ \t]*[:=]"
    rf"|^[ \t]*(?:memory|extractor)[ _-]{_KIND_OF_NOTE}[^:\n]{{0,60}}:|\b(?:to|for) (?:the |any )?(?:memory|extractor)(?:[ _-]\w+)?[ \t]*:|<\|[^|>\n]{{1,40}}\|>|\[/?INST\]|<</?SYS>>|^#{{2,}}[ \t]*(?:system|user|instructions?|response|human|assistant)\b"
    rf"|(?-i:[.!?…:][ \t]+[\[<(]?(?:SYSTEM|System|ASSISTANT|Assistant|USER|user|DEVELOPER|TOOL|ADMIN|Human)(?i:[ _-]{_KIND_OF_NOTE}(?: (?:to|for) [^:\n]{{1,60}})?)?[\])>]?:[ \t])"
)
_IS_ROLE = re2.compile(rf"(?i)^[\[<|*#({{]*{MACHINE}[\])>|*:]*$")

# ---- Labels, reports and tasks
_COLON = re2.compile(r":(?:\*\*)?(?:[ \t]|$|\n|[\"“”„«'‘‚])")
_POINTS = re2.compile(rf"(?i){POINTS_AT_TEXT.pattern}|\b(?:this|these|following|below|hier|unten|ci-dessous)\b[^\pL]*$")
_TEXT_BEGINS = re2.compile(r"[^ \t\n*]")
_OF_A_NAME = re2.compile(
    r"(?i)\b(?:from|by|via|of|von|vom|de|du|d['’])[ ]?(?-i:\p{Lu}|\d)|\b(?:from|by|via|von|vom) \pL|\d"
)
_REPORT = re2.compile(
    rf"(?i)(?:^|[.!?\n][ \t]*)((?:(?:the|this|that|an?|your|der|die|das|le|la) (?:\w+ )?(?:{MACHINE}|{SOURCE})|you|chatgpt|claude|gemini|copilot) (?:just |also |has |have )?(?:said|says|claims?|claimed|told|wrote|writes|states?|stated|thinks?|suggest(?:s|ed)|sagte?|schrieb|dit|dijo)\b[^.!?\n]*?\b(?:that|i|my|dass|ich|que|je)\b[^.!?\n]*)"
)

# ---- Quotations
_PAIRS = {"“": '”“"', "„": '“”"', "«": "»", "»": "«", "”": "”", "‘": "’'", "‚": "‘’'", '"': '"”', "'": "'’"}
QUOTATION_MARKS = "\"“”„«»'‘’‚"
_MARK = re.compile(f"[{QUOTATION_MARKS}]")
_SINGLE, _BEFORE_OPENING, _AFTER_CLOSING = "'‘‚", " \t\n(:,;[—–-*", " \t\n.,;:!?)…]—–-*"
_IS_SPEECH = re2.compile(
    r"(?i)\b(?:i|i['’]m|i['’]ve|my|me|we|our|ich|mein\w*|wir|je|j['’]\w+|mon|ma|mes|nous)\b|(?:\w+\W+){6}"
)
_SAYS = re2.compile(
    r"(?i)(?:\b(?:said|says|wrote|writes|replied|answered|texted|reads|goes|told \w+|sagte?|schrieb|dit)|écrit)[ \t]*$"
)
_ENDS_SENTENCE = re.compile(r"[.!?…]\W{0,2}$")


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
    played = tuple(_scenes(prose, is_playing=is_playing))
    prose = hide(prose, played)
    return TurnWords(text, (*spans, *played), _cut_after_quotations(prose, text, spans))


def own_prose(text: str) -> str:
    """Return a text with all that is not in its author's own words hidden."""
    return read_words(text, is_playing=False).prose  # written as above, for calls are cached as they are written


def spoken_outside_scenes(turn: SourceTurn, *, earlier: Sequence[SourceTurn], most: int) -> str:
    """Return at most `most` characters of a turn, outside of a scene that an earlier turn has opened.

    A turn whose speaker has the name of a role has no text.
    """
    text = printable(turn.content[:most])
    if claims_role(turn.speaker):
        return ""
    return text[_end_of_scene(text) :] if is_in_scene(printable(each.content) for each in earlier) else text


def printable(text: str) -> str:
    """Return a text with lone surrogates hidden."""
    return _NO_CHARACTER.sub(HIDDEN, text)


def claims_role(speaker: str) -> bool:
    """Return True if a speaker has the name of a role: such a name must not increase trust."""
    return speaker.strip().casefold() not in ("user", "human") and _IS_ROLE.match(speaker.strip()) is not None


def _cut_after_quotations(prose: str, text: str, spans: Sequence[ForeignSpan]) -> str:
    """Put a line break at the end of each quotation that ends a sentence, so that a new sentence begins after it."""
    characters = list(prose)
    for span in spans:
        ends_sentence = _ENDS_SENTENCE.search(text[max(span.start, span.end - 4) : span.end])
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
    for opening in _JSON_OPENS.finditer(prose):
        if opening.start() >= place:
            start, place, depth = opening.start(), len(prose), 0
            for bracket in _BRACKET.finditer(prose, start):
                depth += 1 if bracket.group() in "{[" else -1
                if depth == 0:
                    place = bracket.end()
                    break
            yield ForeignSpan(start, place, ForeignKind.DATA)


def _markup(prose: str) -> Iterator[ForeignSpan]:
    """Yield elements from the first tag to the last closing tag; after a single tag, the rest of its paragraph."""
    ends, lines = 0, lines_of(prose)
    for found in _ELEMENT.finditer(prose):
        ends = found.end()
        yield ForeignSpan(found.start(), ends, ForeignKind.MARKUP)
    for found in _TAG.finditer(prose, ends):
        if found.start() >= ends and not _MAIL_ADDRESS.match(found.group()):
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
        kind = next((kind for kind, pattern in _MARKED if pattern.search(line.text)), None)
        if kind is None and in_diff and _DIFF_LINE.match(line.text):
            kind = ForeignKind.CODE
        in_diff = kind is ForeignKind.CODE and (in_diff or _DIFF_OPENS.match(line.text) is not None)
        if kind is None and (_is_row(lines, number) or _is_stamped(lines, number)):
            kind = ForeignKind.DATA
        if kind is None and _is_chat(lines, number):
            kind = ForeignKind.TRANSCRIPT
        if kind is not None:
            is_whole = kind is ForeignKind.TRANSCRIPT or _OPENS_PARAGRAPH.match(line.text)
            ends = paragraph_end(lines, number) if is_whole else line.end
            yield ForeignSpan(line.start, ends, kind)


def _is_row(lines: Sequence[Line], number: int) -> bool:
    """Return True if a line has as many cells as one beside it, or several after a short first one."""
    cells = _cells(lines[number].text)
    beside = [lines[each].text for each in (number - 1, number + 1) if 0 <= each < len(lines)]
    first = re.split(r"[,;\t]", lines[number].text, maxsplit=1)[0]
    is_alone = cells >= 2 and len(first.split()) <= 2 and not in_first_person(first)
    return cells > 0 and (is_alone or any(_cells(each) == cells for each in beside))


def _is_stamped(lines: Sequence[Line], number: int) -> bool:
    """Return True if a line and one beside it begin with a time."""
    beside = [lines[each].text for each in (number - 1, number + 1) if 0 <= each < len(lines)]
    return bool(_STAMPED.match(lines[number].text)) and any(_STAMPED.match(each) for each in beside)


def _cells(line: str) -> int:
    return sum(1 for _ in _CELL_END.finditer(line))


def _is_chat(lines: Sequence[Line], number: int) -> bool:
    """Return True if two lines in a row begin with a name and a colon."""
    return number + 1 < len(lines) and _has_name(lines[number]) and _has_name(lines[number + 1])


def _has_name(line: Line) -> bool:
    found = _NAMED_MESSAGE.match(line.text) if ":" in line.text else None
    return found is not None and OWN_LABELS.isdisjoint(_words(found["name"])) and not _IS_HEADER.match(found["name"])


def _delimited(prose: str) -> Iterator[ForeignSpan]:
    """Yield text between two equal separator lines."""
    opening: Line | None = None
    for line in lines_of(prose):
        if line.is_blank or not _DELIMITER.match(line.text):
            continue
        if opening is None or opening.text.strip()[:1] != line.text.strip()[:1]:
            opening = line
        else:
            yield ForeignSpan(opening.start, line.end, ForeignKind.PASTED_TEXT)
            opening = None


def _roles(prose: str) -> Iterator[ForeignSpan]:
    """Yield text under the marker of a role, or addressed to an extractor, until the speaker resumes."""
    starts = [found.start() for found in _ROLE.finditer(prose)]
    return _pastes(prose, starts, ForeignKind.FORGED_ROLE, within_paragraph=True)


def _mails(prose: str) -> Iterator[ForeignSpan]:
    """Yield each pasted mail or letter, from its header or salutation until the speaker resumes."""
    lines = lines_of(prose)
    written = [number for number, line in enumerate(lines) if not line.is_blank]
    signed = [
        number for number in written if _signs_off(lines[number]) and _after_signature(lines, number) <= written[-1]
    ]
    last = lines[signed[-1]].start if signed else -1
    greetings = [found.start() for found in _GREETING.finditer(prose) if found.start() < last]
    starts = sorted((*greetings, *(found.start() for found in _MAIL.finditer(prose))))
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
        resumes = RESUMES.match(line.text) is not None
        is_postscript = line.text.lstrip()[:2].casefold() in ("ps", "p.") or line.text.lstrip().startswith(HIDDEN)
        if begins and lines[number - 1].is_blank and not is_postscript and (is_signed or resumes):
            return line.start
        if begins and within_paragraph and resumes:
            return line.start
        number += 1
    return lines[-1].end


def _signs_off(line: Line) -> bool:
    return not line.is_blank and SIGN_OFF.match(line.text) is not None


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
    for number, colon in enumerate(_COLON.finditer(prose)):
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
    if not head or ABOUT_SPEAKER.search(head) or SPEAKS_SELF.search(head):
        return True
    return not announces(head) and (in_first_person(head) or not OWN_LABELS.isdisjoint(_words(head)))


def announces(head: str) -> bool:
    """Return True if words before a colon announce a text: by a verb of speaking, a source, or a task over a text."""
    if any(pattern.search(head) is not None for pattern in (SPEAKS, TASK, REQUEST, POINTS_AT_TEXT)):
        return True
    source = SOURCE_NOUN.search(_PURPOSE.sub("", head))
    if source is None or _MINE_IS.search(head):
        return False
    is_plain = _words(head)[-1] in OWN_LABELS and not THIRD_PERSON.search(head)
    return source.end() < len(head) or not (is_plain or _MINE.search(head))


_PURPOSE = re2.compile(r"(?i)\b(?:for|für|pour|para)\b.*$")  # "Medicines for the letter" are not from the letter
SOURCE_NOUN = re2.compile(rf"(?i)\b{SOURCE}\b")
_MINE_IS = re2.compile(r"(?i)^\W*(?:my|our|mein\w*|mon|ma|mes|mi)\b.*\b(?:is|are|was|were|ist|sind|est|sont)\b")
_MINE = re2.compile(r"(?i)^\W*(?:my|our|mein\w*|mon|ma|mes|mi)\b")


def in_first_person(text: str) -> bool:
    """Return True if a text speaks of its speaker."""
    return FIRST_PERSON.search(text) is not None


def _names_source(head: str, *, line: Line, colon: int) -> bool:
    """Return True if a line begins with what may be a name or a thing with a text on it: "bob: I …"."""
    if not line.text.lstrip(_BULLETS).startswith(head.lstrip(_BULLETS)) or not _is_name(head):
        return False
    said = line.text[colon - line.start + 1 :]
    return not said.strip() or in_first_person(said) or orders_agent(said)


def _is_name(head: str) -> bool:
    """Return True for one word, capitalised ones, "Wisdom of Lee", and "the cookie"."""
    words = [word.lstrip(_BULLETS) for word in head.split()]
    if len(words) > 4 and not SOURCE_NOUN.search(head):
        return False
    is_thing = len(words) > 1 and words[0].casefold() in ("the", "this", "that", "der", "die", "das", "le", "la", "el")
    return (
        len(words) == 1 or is_thing or all(each[:1].isupper() for each in words) or _OF_A_NAME.search(head) is not None
    )


def _words(text: str) -> list[str]:
    return [word.strip(".,;:!?*()[]-–—\"'") for word in text.casefold().split()]


def _last_clause(text: str) -> str:
    return text[max(text.rfind(mark) for mark in _CLAUSE_ENDS) + 1 :]


def _text_after(prose: str, lines: Sequence[Line], start: int, *, is_announced: bool) -> ForeignSpan:
    """Return the text after a colon: a quotation, a line, a paragraph, or everything until the speaker resumes."""
    text = _TEXT_BEGINS.search(prose, start)
    if text is None:
        return ForeignSpan(start, len(prose), ForeignKind.PASTED_TEXT)
    if text.group() in QUOTATION_MARKS:
        end = _end_of_quotation(prose, _closings(prose), text.start())
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
            yield ForeignSpan(below.start, _end_of_paste(lines, below.start), ForeignKind.PASTED_TEXT, is_open=True)
            break
    if len(lines) > 1 and HIDDEN not in prose and _points_above(lines[-1].text):
        yield ForeignSpan(0, lines[-2].end, ForeignKind.PASTED_TEXT)
    for found in _REPORT.finditer(prose):
        yield ForeignSpan(found.start(1), found.end(1), ForeignKind.QUOTATION)
    start = 0
    for end in (found.end() for found in _SENTENCE_END.finditer(prose)):
        if TASK.match(prose[start:end][: 2 * _LONGEST_HEAD]):
            yield ForeignSpan(end, end, ForeignKind.PASTED_TEXT, is_open=True)
            return
        start = end


def _hands_over(line: str) -> bool:
    """Return True for a task over the text below, or a question about it."""
    if not 4 <= len(line) <= 2 * _LONGEST_HEAD or _ADDRESS.search(line):
        return False
    said = line.strip()
    last = f"{_last_clause(said[:-1])}{said[-1:]}".strip()
    requests = REQUEST.match(last) is not None and _POINTS.search(last) is not None
    return bool(
        TASK.match(last) or requests or PRESENTS.search(last) or (last.endswith("?") and POINTS_AT_TEXT.search(said))
    )


def _points_above(request: str) -> bool:
    if len(request) > 2 * _LONGEST_HEAD or not POINTS_AT_TEXT.search(request):
        return False
    return request.rstrip().endswith("?") or bool(TASK.match(request) or REQUEST.match(request))


def _quotations(prose: str) -> Iterator[ForeignSpan]:
    """Yield quoted sentences, and any quoted text after a verb of speaking."""
    closings, place = _closings(prose), 0
    for found in _MARK.finditer(prose):
        start = found.start()
        if start < place or not _opens(prose, start):
            continue
        end = _end_of_quotation(prose, closings, start)
        if end > start and (_is_said(prose, start) or _IS_SPEECH.search(prose[start:end]) is not None):
            place = end
            yield ForeignSpan(start, end, ForeignKind.QUOTATION)


def _opens(prose: str, start: int) -> bool:
    """Return True for an opening mark; a single one opens before a capital, after , or : or a verb of speaking."""
    mark, before, after = prose[start], prose[max(0, start - 1) : start] or " ", prose[start + 1 : start + 2]
    if mark not in _PAIRS or before not in _BEFORE_OPENING or not (after.strip() or mark == "«"):
        return False
    is_after_pause = prose[max(0, start - 3) : start].rstrip()[-1:] in tuple(":,")
    return mark not in _SINGLE or after.isupper() or is_after_pause or _is_said(prose, start)


def _is_said(prose: str, start: int) -> bool:
    return _SAYS.search(prose[max(0, start - 30) : start]) is not None


@lru_cache(maxsize=8)
def _closings(prose: str) -> dict[str, list[int]]:
    """Return the positions at which quotations may end, by mark."""
    closings: dict[str, list[int]] = {mark: [] for mark in QUOTATION_MARKS}
    for found in _MARK.finditer(prose):
        place = found.start()
        follows_text = found.group() == "»" or prose[max(0, place - 1) : place].strip()
        if (prose[place + 1 : place + 2] or " ") in _AFTER_CLOSING and follows_text:
            closings[found.group()].append(place)
    return closings


def _end_of_quotation(prose: str, closings: dict[str, list[int]], start: int) -> int:
    """Return the end of a quotation; without a closing mark, that of the paragraph after a colon, else its start."""
    places = [closings[mark] for mark in _PAIRS.get(prose[start], prose[start])]
    nearest = min((each[at] for each in places if (at := bisect_right(each, start + 1)) < len(each)), default=-1)
    if 0 <= nearest <= start + _LONGEST_QUOTATION:
        return nearest + 1
    if not prose[max(0, start - 3) : start].rstrip().endswith(":"):
        return start
    return _end_of_paragraph(prose, start)


def gives_a_role(text: str) -> bool:
    """Return True if a turn begins by giving the assistant a role: it sets a scene and states no facts."""
    return ROLE_FOR_THE_ASSISTANT.match(text) is not None


def is_in_scene(earlier: Iterable[str]) -> bool:
    """Return True if an earlier turn has opened a scene for two that has not been closed since."""
    playing = False
    for text in earlier:
        opened, closed = _last_end(SCENE_OPENS, text), _last_end(SCENE_CLOSES, text)
        playing = playing if opened == closed else opened > closed
    return playing


def _last_end(pattern: "re2._Regexp[str]", text: str) -> int:
    return max((found.end() for found in pattern.finditer(text)), default=-1)


def _scenes(prose: str, *, is_playing: bool) -> Iterator[ForeignSpan]:
    """Yield the text of a scene, from the end of the opening sentence to the closing words, or of a given role."""
    place = 0
    if is_playing:
        place = _end_of_scene(prose)
        yield ForeignSpan(0, place, ForeignKind.ROLE_PLAY)
    while opening := SCENE_OPENS.search(prose, place):
        start, place = _next_sentence(prose, opening.end()), _end_of_scene(prose, opening.end())
        if start < place:
            yield ForeignSpan(start, place, ForeignKind.ROLE_PLAY)
        place = max(place, opening.end())
    for opening in (*SCENE_ALONE.finditer(prose), *PLAYS_A_NAME.finditer(prose)):
        start, end = _next_sentence(prose, opening.end() - 1), _end_of_paragraph(prose, opening.end())
        if start < end and HIDDEN not in opening.group():
            yield ForeignSpan(start, min(end, _end_of_scene(prose, start)), ForeignKind.ROLE_PLAY)
    if gives_a_role(prose):
        end = _next_sentence(prose, 0)
        yield ForeignSpan(end, end, ForeignKind.ROLE_PLAY, is_open=True)


def _end_of_scene(prose: str, start: int = 0) -> int:
    closing = SCENE_CLOSES.search(prose, start)
    return int(closing.end()) if closing else len(prose)


def _next_sentence(prose: str, place: int) -> int:
    end = _SENTENCE_END.search(prose, place)
    return int(end.end()) if end else len(prose)


def _end_of_paragraph(prose: str, place: int) -> int:
    end = prose.find("\n\n", place)
    return end if end >= 0 else len(prose)


_STEPS: tuple[Callable[[str], Iterator[ForeignSpan]], ...] = (
    _region(ForeignKind.CODE, _FENCES),
    _json,
    _roles,
    _markup,
    _marked_lines,
    _region(ForeignKind.PASTED_TEXT, _BRACKETED),
    _delimited,
    _mails,
    _region(ForeignKind.PASTED_TEXT, _FIELDS),
    _labelled,
    _tasks,
    _quotations,
    _region(ForeignKind.ADDRESS, _ADDRESS),
)
