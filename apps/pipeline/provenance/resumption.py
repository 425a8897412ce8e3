"""The end of pasted text without an end marker: a sign-off, or a change of subject by the speaker.

It is never certain, because pasted text can contain the same words. The text after it therefore has the standing
RESUMED: it may be stored, but replaces nothing and sets no rule.
"""

from collections.abc import Sequence

import re2

from apps.pipeline.provenance.spans import HIDDEN, Line, line_at

_SIGNATURE_LINES = 4  # after a sign-off: name, position, company, telephone
_SIGNATURE_WORDS = 6  # maximal length of such a line
_SIGN_OFF = re2.compile(
    r"(?i)^[ \t]*(?:(?:kind|best|warm|many|with)?[ \t]*(?:kind )?(?:regards|wishes|greetings)|cheers|best|love|sincerely|yours(?: \w+)?"
    r"|thanks|many thanks|mit (?:\w+ )?gr(?:ü|ue)(?:ß|ss)en|(?:viele|liebe|beste|sch(?:ö|oe)ne) gr(?:ü|ue)(?:ß|ss)e"
    r"|cordialement|bien (?:à|a) (?:vous|toi)|bien cordialement|un saludo|saludos|sent from my [^\n]{1,30}|-- ?)[ \t]*[,.!]?[ \t]*$"
)
# Words by which a speaker changes the subject after pasted text.
_TURNS_AWAY = re2.compile(
    r"(?i)^[ \t]*(?:by the way|btw|anyway|anyhow|on another note|unrelated|apart from (?:that|this)|other than that"
    r"|back to (?:me|us)|for (?:your )?context|as for (?:me|myself)|about me|that(?:['’]s| is| was) (?:all|it|the \w+)"
    r"|end of (?:the )?(?:mail|e-mail|email|message|letter|text|quote|article|page|paste|transcript|log)"
    r"|übrigens|nebenbei|abgesehen davon|au fait|(?:à|a) propos|sinon|soit dit en passant|por cierto)\b"
)
# A comment on what was pasted: "What does this mail want from me?"
_COMMENTS = re2.compile(
    r"(?i)^[^.!?\n]{0,60}\b(?:this|that|the|dies\w*|die|der|ce|cet|cette|le|la)[ \t]+(?:\w+[ \t]+)?"
    r"(?:mail|e-mail|email|message|letter|text|article|page|log|chat|conversation|transcript|output|review|post|nachricht|brief|artikel|seite|courriel|lettre|texte)"
    r"\b[^.!?\n]{0,80}\?"
)
_POSTSCRIPT = re2.compile(r"(?i)^[ \t]*p\.? ?s\b")


def end_of_paste(lines: Sequence[Line], start: int, *, within_paragraph: bool = False) -> int:
    """Return the end of pasted text that begins at `start`, often the end of the text.

    With `within_paragraph` the speaker may resume in a line without a blank one before it.
    """
    signed = False
    number = line_at(lines, start)
    while number < len(lines):
        line = lines[number]
        if _signs_off(line):
            number, signed = _after_signature(lines, number), True
            continue
        begins = line.start > start and not line.is_blank and lines[number - 1].is_blank
        turns_away = within_paragraph and line.start > start and _TURNS_AWAY.match(line.text) is not None
        if turns_away or (begins and _is_own(line, signed=signed)):
            return line.start
        number += 1
    return lines[-1].end


def last_signature(lines: Sequence[Line]) -> int:
    """Return the start of the last sign-off with text after its signature, or -1."""
    numbers = [number for number, line in enumerate(lines) if _signs_off(line)]
    last_text = max((number for number, line in enumerate(lines) if not line.is_blank), default=-1)
    return next(
        (lines[number].start for number in reversed(numbers) if _after_signature(lines, number) <= last_text), -1
    )


def _signs_off(line: Line) -> bool:
    return not line.is_blank and _SIGN_OFF.match(line.text) is not None


def _is_own(line: Line, *, signed: bool) -> bool:
    if line.text.lstrip().startswith(HIDDEN) or _POSTSCRIPT.match(line.text):
        return False
    return signed or _TURNS_AWAY.match(line.text) is not None or _COMMENTS.match(line.text) is not None


def _after_signature(lines: Sequence[Line], number: int) -> int:
    """Return the number of the line after a sign-off and the short lines of a signature."""
    last = number
    for line in lines[number + 1 : number + 1 + _SIGNATURE_LINES]:
        if line.is_blank or len(line.text.split()) > _SIGNATURE_WORDS:
            break
        last += 1
    return last + 1
