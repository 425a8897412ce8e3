"""What a sentence asks of the memory: to forget something, or not to store what is told; by two linear models.

They know words, pairs of words and parts of words, so they also read wordings, spellings and languages that nobody has
listed. `manage.py train_wishes` writes their weights beside this file.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from apps.pipeline.core.plain_letters import plain_letters
from apps.pipeline.extraction.linear_model import read_models

WEIGHTS = Path(__file__).with_name("wishes.json")
FORGET, NOT_TO_STORE = "forget", "not_to_store"
LIKELY = 0.6  # the least probability of a wish
SURE = 0.7  # the least with which a memory is retracted without asking a person
_MOST_CHARACTERS, _MOST_WORDS = 600, 60
_PARTS = (4, 5)  # letters
_LEAST_WORDS = 3  # of a clause
_CLAUSE_END = re.compile(r"[,;:–—()]\s*|\s-\s|\s(?=(?:and|but|so|und|aber|et|mais|y|pero)\s)")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|[?!]")


@dataclass(frozen=True, slots=True)
class Wishes:
    """How probable it is that a sentence asks to forget what was told before, and not to store what it tells."""

    forget: float
    not_to_store: float


def wishes_in(sentence: str) -> Wishes:
    """Return the wishes of a sentence; that not to store something may stand in a clause of it."""
    features = features_of(sentence)
    parts = _CLAUSE_END.split(sentence)
    clauses = [each for each in parts if len(words_of(each)) >= _LEAST_WORDS] if len(parts) > 1 else []
    models = read_models(WEIGHTS)
    return Wishes(
        forget=models[FORGET].probability(features),
        not_to_store=max(map(models[NOT_TO_STORE].probability, (features, *map(features_of, clauses)))),
    )


def words_of(sentence: str) -> list[str]:
    """Return the words of a sentence in plain letters, numbers as "#"."""
    words = [found.group() for found in _WORD.finditer(plain_letters(sentence[:_MOST_CHARACTERS]))][:_MOST_WORDS]
    return ["#" if each.isdigit() else each for each in words]


def features_of(sentence: str) -> frozenset[str]:
    """Return the words of a sentence, pairs of words with up to one between them, and parts of words."""
    words = words_of(sentence)
    features = {*words, *map(" ".join, zip(["^", *words], [*words, "$"], strict=True))}
    features.update(map(" _ ".join, zip(words, words[2:], strict=False)))
    for framed in map("<{}>".format, set(words)):
        for size in _PARTS:
            features.update([f"~{framed[start : start + size]}" for start in range(len(framed) - size + 1)])
    return frozenset(features)
