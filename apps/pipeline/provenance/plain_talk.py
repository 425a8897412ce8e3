"""Plain talk: how far a message is plainly what its author says of themselves.

Without a model nothing understands a message, so a statement from it is only certain where the message has no sign of a
text that is handed over. Most signs are of layout, not of language. What follows the first of them waits for a reviewer:
that costs a person a look, while a false memory costs their trust.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

import re2

from apps.pipeline.provenance.orders import orders_agent
from apps.pipeline.provenance.own_words import (
    HIDDEN,
    LONGEST_HEAD,
    TurnWords,
    in_first_person,
    is_own_label,
    last_clause,
    paragraph_end,
)

# What logs, code, forms, transcripts and verse have, and talk has not: brackets, operators, blanks to fill, dashes and
# slashes between lines that were joined.
_LAYOUT = re2.compile(r"[\[\]{}|^]|__|=[\w\"']|<[\pL /!-]|>[\w ]|(?:^|\s)(?:--+|//|#)|\s/\s[^\n]*\s/\s|(?m:^)\s*[–—]\s")
_INTRODUCES = re2.compile(r"\s?:(?:\s|$)|\s[-–—]\s")
_QUESTION = re2.compile(r"\?\s+")
# "And now the news:" goes on talking; "let's practise, I am the guest:" opens a scene.
_GOES_ON = re2.compile(r"(?i)^\W*(?:and|but|so|und|aber|et|mais|y|pero)\b")
_LETS = re2.compile(r"(?i)\b(?:let['’]?s|lass(?:t)? uns|faisons|jouons|juguemos|facciamo)\b")
# A message that begins by saying who its reader is: a prompt, or the opening of a scene.
_GIVES_ROLE = re2.compile(
    r"(?i)^\W*(?:you(?:['’]re| are)(?: now)?|du bist|tu es|vous êtes|(?:tú )?eres) (?:(?:an?|the|my|eine?|une?|mon)\b|(?-i:\p{Lu}))"
)
_LONGEST_SAID = 600  # characters after a label
_LEAST_REQUEST = 4  # words; a shorter paragraph may be a greeting


def is_plain_talk(words: TurnWords, quote: str) -> bool:
    """Return True if a quote stands in what is plainly the author's talk; as words that don't occur are no quote."""
    return words.has_own(quote, end=talk_end(words.prose)) or not words.has_own(quote)


@lru_cache(maxsize=64)
def talk_end(prose: str) -> int:
    """Return where a message stops to be plainly its author's talk; `prose` has others' words hidden."""
    return min(_signs(prose), default=len(prose))


def _signs(prose: str) -> Iterator[int]:
    if _GIVES_ROLE.match(prose):
        yield 0
    if layout := _LAYOUT.search(prose):
        yield max(0, prose.rfind("\n\n", 0, layout.start()))
    opening = prose[: paragraph_end(prose, 0)]
    if HIDDEN not in opening and len(opening.split()) >= _LEAST_REQUEST and not in_first_person(opening):
        yield len(opening)
    yield from islice(_questions(prose), 1)
    yield from islice(_introductions(prose), 1)


def _questions(prose: str) -> Iterator[int]:
    """Yield where questions end that may be about the text below: none of the author, or of material above."""
    material = prose.find(HIDDEN)
    for found in _QUESTION.finditer(prose):
        asked = last_clause(prose[max(0, found.start() - LONGEST_HEAD) : found.start()])
        is_about_material = 0 <= material <= found.end()
        if not is_about_material and not in_first_person(asked):
            yield found.end()


def _introductions(prose: str) -> Iterator[int]:
    """Yield the places of labels that are not the author's own, before what speaks of somebody or orders an agent."""
    for found in _INTRODUCES.finditer(prose):
        label = last_clause(prose[max(0, found.start() - LONGEST_HEAD) : found.start()])
        following = prose[found.end() : found.end() + _LONGEST_SAID]
        said = following[: paragraph_end(following, 0)]
        is_of_material = said.startswith(HIDDEN)
        if not is_of_material and not _is_own(label.strip()) and (in_first_person(said) or orders_agent(said)):
            yield found.start() - len(label)


def _is_own(label: str) -> bool:
    return _LETS.search(label) is None and (is_own_label(label) or _GOES_ON.match(label) is not None)
