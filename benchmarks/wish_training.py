"""Training of the models of wishes, from sentences with labels, and from those of conversations, which ask nothing."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from apps.pipeline.extraction.linear_model import LinearModel
from apps.pipeline.extraction.wishes import FORGET, LIKELY, NOT_TO_STORE, features_of
from benchmarks.gate_training import train
from benchmarks.truth import gold

SENTENCES = Path(__file__).with_name("wishes")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
_MAY_WISH = re.compile(
    r"(?i)forget|delet|eras|remember|record|books|stor|sav|not[ei]|memor|between|secret|private|told|said"
)
DECAY = 3e-6  # chosen by training without one author at a time
LEAST_WEIGHT = 0.5  # half as many as of 0.2, with the same results
PROMISED = ("plain_wordings", "requests_to_remember")  # those that have to be understood
_TIMES = 3  # that each of them counts
NOTHING = "nothing"
WISHES = (FORGET, NOT_TO_STORE)


@dataclass(frozen=True, slots=True)
class WishSentence:
    """A sentence with its label: a wish, or "nothing"."""

    text: str
    label: str
    author: str


@dataclass(frozen=True, slots=True)
class WishFigures:
    """How well a model finds the wishes of sentences that it was not trained from."""

    precision: float
    recall: float


def load() -> list[WishSentence]:
    """Return the labelled sentences of all authors, and those of the gold lists without words of wishes."""
    told = [
        WishSentence(text, NOTHING, conversation.half)
        for conversation in (*gold.load(), *gold.load(gold.WITHOUT_ANSWERS))
        for turn in conversation.turns
        for text in _SENTENCE_END.split(turn.text)
        if text and not _MAY_WISH.search(text)
    ]
    return [*_labelled(), *told]


def _labelled() -> list[WishSentence]:
    """Read the files of the authors; each line is a message with its sentences as [text, label]."""
    return [
        WishSentence(text, label, file.stem)
        for file in sorted(SENTENCES.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
        for text, label in json.loads(line)["sentences"]
    ]


def train_wishes(sentences: Sequence[WishSentence]) -> dict[str, LinearModel]:
    """Fit a model for each wish."""
    counted = [each for each in sentences for _ in range(_TIMES if each.author in PROMISED else 1)]
    rows = [features_of(each.text) for each in counted]
    return {
        wish: train(rows, [each.label == wish for each in counted], decay=DECAY, least_weight=LEAST_WEIGHT)
        for wish in WISHES
    }


def figures_without(author: str, sentences: Sequence[WishSentence]) -> dict[str, WishFigures]:
    """Train without an author, and measure on that author's sentences."""
    models = train_wishes([each for each in sentences if each.author != author])
    own = [each for each in sentences if each.author == author]
    return {wish: _figures(models[wish], wish, own) for wish in WISHES}


def _figures(model: LinearModel, wish: str, sentences: Sequence[WishSentence]) -> WishFigures:
    found = [each for each in sentences if model.probability(features_of(each.text)) >= LIKELY]
    right = sum(each.label == wish for each in found)
    return WishFigures(right / (len(found) or 1), right / (sum(each.label == wish for each in sentences) or 1))
