"""Transcripts: lines such as "[10:02] Bob: …", and text under the forged name of a role."""

from collections.abc import Iterator

import re2

from apps.pipeline.provenance.labels import OWN_LABELS
from apps.pipeline.provenance.resumption import end_of_paste
from apps.pipeline.provenance.spans import ForeignKind, ForeignSpan, Line, lines_of

_ROLE = r"(?:system|assistant|developer|tool|user|human|ai|bot|function|model|admin(?:istrator)?|chatgpt|claude|gemini|copilot|systemnachricht|système|sistema)"
_MARKS = r"[\[<|*#({]*"
# "System:", "[SYSTEM MESSAGE]", "### Instruction:", "<|im_start|>user": at the start of a line or of a sentence.
_FORGED_ROLE = re2.compile(
    rf"(?im)^[ \t]*{_MARKS}[ \t]*{_ROLE}(?:[ _-](?:message|note|prompt|result|output|response|override|update|says|instructions?|notice)){{0,2}}[ \t]*[\])>|*]*:"
    rf"|^[ \t]*[\[(]{_ROLE}(?:[ _-]\w+){{0,2}}[\])]"
    r"|^[ \t]*\"?role\"?[ \t]*[:=]"
    r"|<\|[^|>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|^#{2,}[ \t]*(?:system|user|instructions?|response|human|assistant)\b"
)
_INLINE_ROLE = re2.compile(
    r"[.!?…:][ \t]+[\[<(]?(?:SYSTEM|System|ASSISTANT|Assistant|USER|user|DEVELOPER|TOOL|ADMIN|Human)(?i:[ _-](?:note|message|prompt|update|override|notice|instructions?))?[\])>]?:[ \t]"
)
_NAME = r"(?:\p{Lu}[\pL\w.'-]*(?: \p{Lu}[\pL\w.'-]*){0,2})"
_TIME = r"[\[(]?(?:[\d/.\-]{4,10},? )?\d{1,2}[:.]\d{2}(?::\d{2})?(?: ?[apAP][mM])?[\])]?"
_TIMED_LINE = re2.compile(
    rf"^[ \t]*(?:{_TIME}[ \t,–-]*<?{_NAME}>?[ \t]*[:>]|{_NAME} ?[\[(]\d{{1,2}}[:.]\d{{2}}(?: ?[apAP][mM])?[\])][ \t]*:?|{_NAME} ?[—–-] ?(?i:today|yesterday)[^\n]*)"
)
_NAMED_LINE = re2.compile(rf"^[ \t*]*<?(?P<name>{_NAME})>?[*]*:[*]*[ \t]+\S")


def forged_roles(prose: str) -> Iterator[ForeignSpan]:
    """Yield text under the marker of a role, until the speaker resumes."""
    place, lines = 0, lines_of(prose)
    for start in sorted(found.start() for pattern in (_FORGED_ROLE, _INLINE_ROLE) for found in pattern.finditer(prose)):
        if start >= place:
            place = max(end_of_paste(lines, start, within_paragraph=True), start + 1)
            yield ForeignSpan(start, place, ForeignKind.FORGED_ROLE, is_open=True)


def transcripts(prose: str) -> Iterator[ForeignSpan]:
    """Yield the messages of a chat with all their lines; a single message needs a time."""
    block: list[Line] = []
    for line in (*lines_of(prose), Line(len(prose), len(prose), "")):
        if not line.is_blank and (_is_message(line) or (block and _is_chat(block))):
            block.append(line)
            continue
        if block and _is_chat(block):
            yield ForeignSpan(block[0].start, block[-1].end, ForeignKind.TRANSCRIPT)
        block = []


def _is_message(line: Line) -> bool:
    return _TIMED_LINE.match(line.text) is not None or _name_before(line) != ""


def _is_chat(block: list[Line]) -> bool:
    """Return True if a message has a time or is followed by another one."""
    return len(block) > 1 or _TIMED_LINE.match(block[0].text) is not None


def _name_before(line: Line) -> str:
    """Return the words before the colon of a line if they may be a name."""
    found = _NAMED_LINE.match(line.text) if ":" in line.text else None
    name = found["name"] if found else ""
    return "" if set(name.casefold().split()) & OWN_LABELS else name


def claims_role(speaker: str) -> bool:
    """Return True if a speaker has the name of a role: such a name must not increase trust."""
    return speaker.strip().casefold() not in ("user", "human") and _IS_ROLE.match(speaker.strip()) is not None


_IS_ROLE = re2.compile(rf"(?i)^{_MARKS}{_ROLE}[\])>|*:]*$")
