"""Shapes of texts that contain no statement: code, payloads, emoji."""

import json
import re
import unicodedata
from itertools import islice

MAX_LINES = 200  # lines that are examined
MAX_JSON = 20_000  # characters that are parsed; of a longer text only the two ends are examined
PROSE_WORDS = 5  # consecutive plain words that count as a sentence
CODE_SHARE = 0.6  # of the lines outside fences

_LETTER = re.compile(r"[^\W_]")
_WORDS = re.compile(rf"\b(?:[^\W\d_]['’\w]{{0,30}},? ){{{PROSE_WORDS - 1}}}[^\W\d_]|\w\? [^\W\d_]")  # or a question
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
# Beginnings of lines of programs in common languages; lines that end in a bracket or semicolon are recognised anyway.
_CODE_LINE = re.compile(
    r"""\s*(?:
        (?:async\ )?def\ \w+\(|class\ \w+\s*[(:{]|import\ [\w.]+(?:$|,|\ as\ )|from\ [\w.]+\ import\ |\#include\b
      | \#!|//|/\*|[})\]]+,?$|@[\w.]+\(.*\)$|\$\ [a-z]|[\w.$]+\(.*\)$|(?<=\s)return\b
      | (?:if|elif|else|for|while|try|except|with|finally)\b.*:$|(?:const|let|var)\ [\w{\[][^=]*=
      | (?:public|private|static|func|fn)\ [\w<>\[\] ]+[({=]|[\w.\[\]]+\ ?[-+*|]?=\ ?(?:["'\[{(\d]|\w+[.(\[])
      | (?:SELECT\ .+\ FROM|INSERT\ INTO|UPDATE|DELETE\ FROM|CREATE\ TABLE|ALTER\ TABLE|WHERE|GROUP\ BY|ORDER\ BY)\ \S
      | Traceback\ \(most\ recent|File\ ".*",\ line\ \d|at\ [\w.$<>]+\(|[\w.]+(?:Error|Exception)(?::|$)
    )""",
    re.VERBOSE,
)
_CODE_SIGN = re.compile(r"\w\(|\w ?= ?\S|=>")
_JSON_HEAD = re.compile(r"[{\[]\s*[\"{\[\]}\d]")
_TAG = re.compile(r"<[!?/]?[A-Za-z][^<>]*>")
_LOG_LINE = re.compile(r"[\[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


def letters(text: str, *, enough: int) -> int:
    """Count letters and digits up to `enough`."""
    return sum(1 for _ in islice(_LETTER.finditer(text), enough))


def is_emoji_only(text: str) -> bool:
    """Return True if a text contains emoji but no letters or digits."""
    return letters(text, enough=1) == 0 and any(unicodedata.category(sign) == "So" for sign in text)


def is_code_only(text: str) -> bool:
    """Return True if a text is program code without a sentence about it."""
    outside = _FENCE.sub("\n", text) if "```" in text or "~~~" in text else text
    if outside is not text and letters(outside, enough=1) == 0:
        return True
    lines = _lines(outside)
    if len(lines) == 1:
        # A sentence may end in a semicolon, so a second sign is required.
        return outside is text and lines[0].endswith((";", "}")) and _CODE_SIGN.search(lines[0]) is not None
    coded = [
        _CODE_LINE.match(line) is not None or (line.endswith((";", "{", "}")) and _WORDS.search(line) is None)
        for line in lines
    ]
    prose = any(_WORDS.search(line) for line, code in zip(lines, coded, strict=True) if not code)
    return not prose and sum(coded) >= max(2, CODE_SHARE * len(lines))


def is_payload(text: str) -> bool:
    """Return True if a text is JSON, XML, a table or a log."""
    shown = text.strip()
    if shown[:1] in ("{", "["):
        if _JSON_HEAD.match(shown) is None or shown[-1] not in "}]":
            return False
        if len(shown) <= MAX_JSON:
            try:
                json.loads(shown)
            except (ValueError, RecursionError):
                return False
        return True
    if shown[:1] == "<" and shown[-1:] == ">":
        pieces = _TAG.split(shown[:MAX_JSON])
        return len(pieces) > 1 and not any(_WORDS.search(piece) for piece in pieces)
    lines = _lines(shown) if "\n" in shown else []
    if len(lines) < 2:
        return False
    if all(line.count("|") >= 2 for line in lines) or all(_LOG_LINE.match(line) for line in lines):
        return True
    columns = ({line.count(separator) for line in lines} for separator in ",;\t")
    has_columns = any(len(counts) == 1 and min(counts) >= 2 for counts in columns)
    return len(lines) > 2 and has_columns and not any(_WORDS.search(line) for line in lines)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in islice(text.splitlines(), MAX_LINES) if line.strip()]
