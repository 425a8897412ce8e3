"""The type of answer that a question asks for: a time, a place or a number.

The database computes the types that a statement offers when it is written: migration 0014 of apps/memories.
"""

import re
from enum import IntFlag

from apps.pipeline.lexicon.tables import read_table

# A question word counts at the beginning only: "What should I cook when Lena comes" doesn't ask for a time.
OPENING_WORDS = 3
_WORD = re.compile(r"\w+")


class AnswerType(IntFlag):
    """Types of answers, with the values that the database stores."""

    TIME = 1
    PLACE = 2
    QUANTITY = 4


def _read() -> dict[str, AnswerType]:
    """Map question words, alone or in pairs, to the type that they ask for."""
    table = read_table("question_words")
    sections = {"time": AnswerType.TIME, "place": AnswerType.PLACE, "quantity": AnswerType.QUANTITY}
    words = {word: answer for name, answer in sections.items() for word in table[name].split()}
    return words | {pair.strip(): AnswerType.QUANTITY for pair in table["quantity_pairs"].split("|")}


_TYPES = _read()
ANY_ANSWER = AnswerType(0)


def wanted_answer(query: str) -> AnswerType:
    """Return the types of answers that a question asks for; ANY_ANSWER for other texts."""
    words = _WORD.findall(query[:200].lower())[: OPENING_WORDS + 1]
    found = ANY_ANSWER
    for first, second in zip(words[:OPENING_WORDS], [*words[1:], ""], strict=False):
        found |= _TYPES.get(first, ANY_ANSWER) | _TYPES.get(f"{first} {second}", ANY_ANSWER)
    return found
