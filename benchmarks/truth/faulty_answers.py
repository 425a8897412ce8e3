"""Put a fault that real models have into recorded answers, to measure what it costs."""

import random
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from apps.providers.shown_ids import ENTITY, MEMORY, ShownIds

_WITHOUT_APOSTROPHE = re.compile(
    r"\b(?P<word>don|doesn|didn|can|isn|wasn|won|haven|aren|wouldn|couldn)t\b", re.IGNORECASE
)
_TIDIED = (
    (_WITHOUT_APOSTROPHE, r"\g<word>'t"),
    (re.compile(r"\bim\b"), "I'm"),
    (re.compile(r"\bive\b"), "I've"),
    (re.compile(r"\bi\b"), "I"),
    (re.compile(r" & "), " and "),
    (re.compile(r"\.\.\."), "…"),
    (re.compile(r"(?<=\w)'(?=\w)"), "’"),
    (re.compile(r"\s+"), " "),
)


class AnswerFault(StrEnum):
    """What is wrong with an answer."""

    TIDIED_QUOTES = "tidied-quotes"  # apostrophes, capitals, "&" and "..." of each quote are written as in print
    WRONG_IDS = "wrong-ids"  # one id of each answer is that of another memory or entity that the prompt shows


def faulty(answer: Mapping[str, Any], *, fault: AnswerFault, shown: ShownIds) -> dict[str, Any]:
    """Return the answer to an extraction with a fault, the same one for the same prompt."""
    memories = [dict(each) for each in answer.get("memories", ())]
    if fault is AnswerFault.TIDIED_QUOTES:
        for each in memories:
            each["evidence"] = _tidied(each.get("evidence") or "")
    elif memories:
        _put_wrong_id(memories, shown=shown)
    return {**answer, "memories": memories}


def _tidied(quote: str) -> str:
    for pattern, written in _TIDIED:
        quote = pattern.sub(written, quote)
    return quote[:1].upper() + quote[1:]


def _put_wrong_id(memories: Sequence[dict[str, Any]], *, shown: ShownIds) -> None:
    """Name in one memory another shown memory as repeated or replaced, or another entity as what it is about."""
    drawn = random.Random("".join(shown.new_turns))
    memory = drawn.choice(memories)
    field = drawn.choice(("same_as", "replaces", "object"))
    kind = ENTITY if field == "object" else MEMORY
    others = [name for name, known in shown.references.items() if known.startswith(kind) and name not in str(memory)]
    if not others:
        return
    wrong = drawn.choice(others)
    memory[field] = {"same_as": wrong, "replaces": [wrong], "object": {"entity": wrong}}[field]
