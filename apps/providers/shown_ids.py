"""Short ids of a prompt (t1, e2, m3) as references that outlast it: a turn's name, an entity's name, a sentence.

A prompt numbers what it shows, so an answer that was recorded for it names turns, entities and memories by numbers
that another run gives to others. Nothing here depends on what a key of an answer means: every string that equals a
shown id is replaced.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import unescape
from typing import Any

from apps.pipeline.core.model_calls import ModelRequest

TURN, ENTITY, MEMORY, USER = "@turn:", "@entity:", "@memory:", "@user"
ALIKE = 0.8  # of two wordings of one memory; below it a reference is to something that is not shown
_TURN = re.compile(r'<turn (?P<attributes>[^>]*?\bid="(?P<id>\w+)"[^>]*)>(?P<text>.*?)</turn>', re.DOTALL)
_ELEMENT = re.compile(r'<\w+ (?:[^>]*?\s)?id="(?P<id>[a-z]\d+)"[^>]*>(?P<text>.*?)</\w+>', re.DOTALL)
_LINE = re.compile(r"^[-*\s]*\[?(?P<id>[a-z]\d+)\]?(?:\s*[|:]\s*|\s+)(?P<text>\S.*)$", re.MULTILINE)
_QUESTION = re.compile(r'<question id="(?P<id>q\d+)">(?P<body>.*?)</question>', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True)
class ShownIds:
    """The short ids of one prompt with what they stand for, and the new turns in their order."""

    references: Mapping[str, str]
    new_turns: tuple[str, ...]

    def to_stable(self, answer: Any) -> Any:
        """Return an answer with each shown id replaced by its reference."""
        return _replaced(answer, self.references)

    def to_shown(self, answer: Any) -> tuple[Any, list[str]]:
        """Return a recorded answer with the ids of this prompt, and the references that it doesn't show.

        An entity that is not shown is named; a turn or memory that is not shown is left out of the answer, as a model
        that can't see it would.
        """
        ids: dict[str, str | None] = {}
        for reference in sorted(_references_in(answer)):
            ids[reference] = self._id_of(reference)
        missing = [each for each, found in ids.items() if found is None]
        return _replaced(answer, ids), missing

    def _id_of(self, reference: str) -> str | None:
        for shown, known in self.references.items():
            if known == reference:
                return shown
        if reference.startswith(ENTITY):
            return reference.removeprefix(ENTITY)
        if reference == USER:
            return "user"
        if not reference.startswith(MEMORY):
            return None
        # The memory whose wording is nearest: the product may have reworded it since.
        memories = {shown: known for shown, known in self.references.items() if known.startswith(MEMORY)}
        shares = {
            shown: SequenceMatcher(None, reference.casefold(), known.casefold()).ratio()
            for shown, known in memories.items()
        }
        best = max(shares, key=lambda shown: shares[shown], default=None)
        return best if best is not None and shares[best] >= ALIKE else None


def shown_ids(request: ModelRequest, *, name_of: Callable[[str, str], str]) -> ShownIds:
    """Read which ids a prompt shows; `name_of` names a turn by its text and its attributes."""
    references: dict[str, str] = {}
    new_turns: list[str] = []
    for found in _TURN.finditer(request.turns):
        name = name_of(unescape(found["text"]), found["attributes"])
        references[found["id"]] = TURN + name
        if 'new="true"' in found["attributes"]:
            new_turns.append(name)
    for pattern in (_ELEMENT, _LINE):
        for found in pattern.finditer(request.context):
            shown, parts = found["id"], [part.strip() for part in unescape(found["text"]).split(" | ")]
            if not shown.startswith("e"):  # its sentence, beside a date, a predicate or a mark
                reference = MEMORY + max((part for part in parts if " " in part), key=len, default=parts[-1])
            else:
                reference = USER if "the user" in parts[1:] else ENTITY + parts[0]
            references.setdefault(shown, reference)
    return ShownIds(references, tuple(new_turns))


def shown_questions(request: ModelRequest) -> dict[str, tuple[str, ...]]:
    """Return the sentences of each question that a judge is asked, by its id."""
    questions = {}
    for found in _QUESTION.finditer(request.turns):
        texts = (unescape(part).strip() for part in _TAG.split(found["body"]))  # without the tags that name them
        questions[found["id"]] = tuple(text for text in texts if text)
    return questions


def _replaced(value: Any, words: Mapping[str, str | None]) -> Any:
    """Replace strings, whole ones only; one that becomes None is left out of its list or mapping."""
    if isinstance(value, str):
        return words.get(value, value)
    if isinstance(value, list):
        return [new for each in value if (new := _replaced(each, words)) is not None or each is None]
    if isinstance(value, dict):
        pairs = ((key, each, _replaced(each, words)) for key, each in value.items())
        return {key: new for key, each, new in pairs if new is not None or each is None}
    return value


def _references_in(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value} if value.startswith((TURN, ENTITY, MEMORY)) or value == USER else set()
    children: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*(_references_in(each) for each in children))
