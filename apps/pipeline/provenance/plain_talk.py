"""Plain talk: how far a message is plainly what its author says of themselves.

Without a model nothing understands a message, so a statement from it is only certain where the message has no sign of a
text that is handed over. The signs are of layout, not of language. What follows the first of them waits for a reviewer:
that costs a person a look, while a false memory costs their trust.
"""

from collections.abc import Iterator
from functools import lru_cache

import re2

from apps.pipeline.provenance.own_words import HIDDEN, TurnWords, in_first_person, is_own_label

# What logs, code, forms, transcripts and verse have, and talk has not: brackets, operators, blanks to fill, dashes and
# slashes between lines that were joined.
_LAYOUT = re2.compile(r"[\[\]{}|^]|__|=[\w\"']|<[\pL /!-]|>[\w ]|(?:^|\s)(?:--+|//|#)|\s/\s[^\n]*\s/\s|(?m:^)\s*[–—]\s")
_INTRODUCES = re2.compile(r"\s?:(?:\s|$)|\s[-–—]\s")
_LAST_CLAUSE = re2.compile(r"[^.!?…\n;\x00]*$")
_BLANK_LINE = re2.compile(r"\n[ \t]*\n")
_QUESTION = re2.compile(r"\?\s+")
# "And now the news:" goes on talking; "let's practise, I am the guest:" opens a scene.
_GOES_ON = re2.compile(r"(?i)^\W*(?:and|but|so|und|aber|et|mais|y|pero)\b")
_LETS = re2.compile(r"(?i)\b(?:let['’]?s|lass(?:t)? uns|faisons|jouons|juguemos|facciamo)\b")
_LONGEST_LABEL = 160
_LEAST_REQUEST = 4  # words; a shorter paragraph may be a greeting


def is_plain_talk(words: TurnWords, quote: str) -> bool:
    """Return True if a quote stands in what is plainly the author's talk; as words that don't occur are no quote."""
    return words.has_own(quote, end=talk_end(words.prose)) or not words.has_own(quote)


@lru_cache(maxsize=64)
def talk_end(prose: str) -> int:
    """Return where a message stops to be plainly its author's talk; `prose` has others' words hidden."""
    return min(_signs(prose), default=len(prose))


def _signs(prose: str) -> Iterator[int]:
    if layout := _LAYOUT.search(prose):
        yield max(0, prose.rfind("\n\n", 0, layout.start()))
    for question in _QUESTION.finditer(prose):
        asked = _last_clause(prose[: question.start()])
        is_answered = HIDDEN in prose[: question.end() + 1]  # its text has been found
        if not is_answered and not in_first_person(asked):
            yield question.end()
    end = _paragraph_end(prose, 0)
    opening = prose[:end]
    if HIDDEN not in opening and len(opening.split()) >= _LEAST_REQUEST and not in_first_person(opening):
        yield end
    for sign in _INTRODUCES.finditer(prose):
        label = _last_clause(prose[: sign.start()])
        is_answered = prose.startswith(HIDDEN, sign.end())
        said = prose[sign.end() : _paragraph_end(prose, sign.end())]
        if not is_answered and not _is_own(label.strip()) and in_first_person(said):
            yield sign.start() - len(label)


def _is_own(label: str) -> bool:
    return _LETS.search(label) is None and (is_own_label(label) or _GOES_ON.match(label) is not None)


def _paragraph_end(prose: str, place: int) -> int:
    gap = _BLANK_LINE.search(prose, place)
    return int(gap.start()) if gap else len(prose)


def _last_clause(text: str) -> str:
    found = _LAST_CLAUSE.search(text[-_LONGEST_LABEL:])
    return str(found.group()) if found else ""
