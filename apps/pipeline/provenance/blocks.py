"""Blocks with a structure of their own: code, mark-up, JSON, logs, diffs, tables, quoted and delimited lines."""

import re
from collections.abc import Iterator

import re2

from apps.pipeline.provenance.spans import ForeignKind, ForeignSpan, Line, line_at, lines_of, paragraph_end

_FENCE = re2.compile(r"(?s)```.*?(?:```|\z)|~~~.*?(?:~~~|\z)|\"\"\".*?(?:\"\"\"|\z)|'''.*?(?:'''|\z)")
_ELEMENT = re2.compile(r"(?is)<[a-z!][^<>]*>.*</[a-z][^<>]*>|<!--.*?(?:-->|\z)|<!\[CDATA\[.*?(?:\]\]>|\z)")
_TAG = re2.compile(r"<[a-zA-Z!/][^<>\n]*>")
_MAIL_ADDRESS = re2.compile(r"<[^\s<>]+@[^\s<>]+>")
_BRACKET = re.compile(r"[{}\[\]]")  # one character: linear, and faster than RE2 for each of many matches
_JSON_OPENS = re2.compile(r"\{\s*[\"'{\[]|\[\s*[\"{\[]")
_QUOTED_LINE = re2.compile(r"^[ \t]*[>│┃]")
_BRACKETED = re2.compile(
    r"(?is)\[(?:start|begin)\b[^\]\n]*\].*?(?:\[(?:end|stop)\b[^\]\n]*\]|\z)|\[quote[^\]\n]*\].*?(?:\[/quote\]|\z)|\\begin\{.*?(?:\\end\{[^}\n]*\}|\z)"
    r"|(?-i)(?m:^)[-=*# \t]*BEGIN\b[^\n]*\n.*?(?:\n[-=*# \t]*END\b[^\n]*|\z)"
)
_DELIMITER = re2.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,}|#{3,}|\+{3,}|~{3,})[ \t]*$")
_LOG_LINE = re2.compile(
    r"^[ \t]*(?:[\[(]?\d{4}-\d\d-\d\d[T ,]\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\]?[ :\t]"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d |\d{1,3}(?:\.\d{1,3}){3} - |Traceback \(most|File \"[^\"]+\", line \d|at [\w.$<>]+\()"
)
_DIFF_OPENS = re2.compile(r"^(?:diff --git |--- (?:a/|/|\S+\.\w)|\+\+\+ \S|@@ )")
_DIFF_LINE = re2.compile(r"^(?:[-+@ \\]|index |diff )")
_COMMENT = re2.compile(r"^[ \t]*(?://|/\*)")
_SHELL = re2.compile(r"^[ \t]*(?:\$ |# (?:cat|ls|curl|tail|head)\b|>>> |\w+@[\w.-]+[:~][^$#\n]*[$#] |PS [A-Z]:\\)")
_TABLE_ROW = re2.compile(r"^[^|\n]*\|[^|\n]*\|")
# What an ordinary line has none of, so that it is matched once instead of six times.
_MARKED_LINE = re2.compile(
    "|".join(f"(?:{each.pattern})" for each in (_DIFF_OPENS, _COMMENT, _QUOTED_LINE, _LOG_LINE, _TABLE_ROW, _SHELL))
)


def fences(prose: str) -> Iterator[ForeignSpan]:
    """Yield code between fences; without a closing fence it extends to the end."""
    for found in _FENCE.finditer(prose):
        yield ForeignSpan(found.start(), found.end(), ForeignKind.CODE)


def markup(prose: str) -> Iterator[ForeignSpan]:
    """Yield elements from the first tag to the last closing tag; after a single tag, the rest of its paragraph."""
    if "<" not in prose:
        return
    ends = 0
    for found in _ELEMENT.finditer(prose):
        ends = found.end()
        yield ForeignSpan(found.start(), ends, ForeignKind.MARKUP)
    lines = lines_of(prose)
    for found in _TAG.finditer(prose, ends):
        if found.start() < ends or _MAIL_ADDRESS.match(found.group()):
            continue
        line = line_at(lines, found.start())
        opens_line = not prose[lines[line].start : found.start()].strip()
        ends = paragraph_end(lines, line) if opens_line else found.end()
        yield ForeignSpan(found.start(), ends, ForeignKind.MARKUP)


def data(prose: str) -> Iterator[ForeignSpan]:
    """Yield JSON, from its first bracket to the matching one, or to the end if that is missing."""
    place = 0
    for opening in _JSON_OPENS.finditer(prose):
        if opening.start() < place:
            continue
        place = _matching_bracket(prose, opening.start())
        yield ForeignSpan(opening.start(), place, ForeignKind.DATA)


def _matching_bracket(prose: str, start: int) -> int:
    depth = 0
    for bracket in _BRACKET.finditer(prose, start):
        depth += 1 if bracket.group() in "{[" else -1
        if depth == 0:
            return int(bracket.end())
    return len(prose)


def marked_lines(prose: str) -> Iterator[ForeignSpan]:
    """Yield quoted lines, log lines, rows of tables, diffs, and output of shells."""
    lines = lines_of(prose)
    in_diff, shell_ends = False, 0
    for number, line in enumerate(lines):
        if line.is_blank or line.start < shell_ends:
            continue
        if not in_diff and not _MARKED_LINE.match(line.text):
            continue
        in_diff = _DIFF_OPENS.match(line.text) is not None or (in_diff and _DIFF_LINE.match(line.text) is not None)
        if in_diff or _COMMENT.match(line.text):
            yield _span(line, ForeignKind.CODE)
        elif _QUOTED_LINE.match(line.text):
            yield _span(line, ForeignKind.QUOTED_LINES)
        elif _LOG_LINE.match(line.text) or _TABLE_ROW.match(line.text):
            yield _span(line, ForeignKind.DATA)
        elif _SHELL.match(line.text):
            shell_ends = paragraph_end(lines, number)
            yield ForeignSpan(line.start, shell_ends, ForeignKind.CODE)


def delimited(prose: str) -> Iterator[ForeignSpan]:
    """Yield text between two equal separator lines, or between markers of beginning and end."""
    for found in _BRACKETED.finditer(prose):
        yield ForeignSpan(found.start(), found.end(), ForeignKind.PASTED_TEXT)
    opening: Line | None = None
    for line in lines_of(prose):
        if line.is_blank or not _DELIMITER.match(line.text):
            continue
        if opening is None or opening.text.strip()[:1] != line.text.strip()[:1]:
            opening = line
        else:
            yield ForeignSpan(opening.start, line.end, ForeignKind.PASTED_TEXT)
            opening = None


def _span(line: Line, kind: ForeignKind) -> ForeignSpan:
    return ForeignSpan(line.start, line.end, kind)
