"""The gate: how likely a sentence tells something worth keeping, by a linear model over its words and its shape.

`manage.py train_gate` writes the weights beside this file.
"""

import re
from pathlib import Path

import re2

from apps.pipeline.extraction.linear_model import read_models

WEIGHTS = Path(__file__).with_name("gate.json")
_MOST_CHARACTERS, _MOST_WORDS, _MOST_ASKED = 600, 60, 12
_WORDS_PER_LENGTH, _MOST_LENGTHS = 4, 6
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|\?")
_ASKING = (
    "can could what how which why when where who should would do does is are please write make give tell draft explain"
)
ASKS = "=asks"  # the feature of questions and requests
_SHAPES = (
    ("first person", re2.compile(r"(?i)\b(?:i|i'?m|i'?ve|my|we|our|me)\b")),
    ("digit", re2.compile(r"[0-9]")),
    ("name", re2.compile(r"[\p{Ll},] \p{Lu}\p{Ll}+")),
    ("asks", re2.compile(rf"(?i)^(?:{'|'.join(_ASKING.split())})\b")),
    ("unreal", re2.compile(r"(?i)\b(?:if|suppose|imagine|pretend|hypothetical\w*)\b")),
    ("conditional", re2.compile(r"(?i)\b(?:would|could|might)\b|'d\b")),
)


def score(sentence: str, question: str = "") -> float:
    """Return the probability that a sentence, said in answer to a question or by itself, is worth keeping."""
    return read_models(WEIGHTS)["gate"].probability(features_of(sentence, question))


def features_of(sentence: str, question: str = "") -> frozenset[str]:
    """Return the words, pairs of words and shapes of a sentence, and the words of the question before it."""
    text = _plain(sentence)
    words = _words_of(text)
    pairs = (f"{one} {two}" for one, two in zip(["^", *words], words, strict=False))
    shapes = [f"={name}" for name, pattern in _SHAPES if pattern.search(text)]
    length = f"=length {min(_MOST_LENGTHS, len(words) // _WORDS_PER_LENGTH)}"
    asked = [f"asked {each}" for each in _words_of(_plain(question))[-_MOST_ASKED:]]
    return frozenset((*words, *pairs, length, *shapes, *(("=answer", *asked) if question else ())))


def _plain(text: str) -> str:
    return text[:_MOST_CHARACTERS].replace("’", "'")


def _words_of(text: str) -> list[str]:
    words = [found.group().lower() for found in _WORD.finditer(text)][:_MOST_WORDS]
    return ["#" if each.isdigit() else each for each in words]
