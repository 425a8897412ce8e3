"""Training of the gate: labelled sentences in, weights out; the same sentences always give the same weights."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import re2

from apps.pipeline.extraction.linear_model import LinearModel, scale_of

SHORT = Path(__file__).with_name("short_sentences.toml")
_TIMES = 3  # that each of them counts, beside ten times as many sentences of conversations
_LEAST_OCCURRENCES = 3  # of a feature that gets a weight
_DECAY = 2e-5  # chosen by cross-validation within the training conversations
_STEPS, _SLOW_FROM, _RATE, _SLOW_RATE = 250, 150, 0.3, 0.09
_KEPT_MEAN, _KEPT_SQUARE = 0.9, 0.999  # of the averages of gradients
_STEM = 6  # characters by which words are compared
_WORD = re2.compile(r"[\p{L}\p{N}]{2,}")
_SMALL = frozenset(
    "the an is are was were to of in on at and or for with that this user his her their he she it they has have had be "
    "by from as not who which will".split()
)


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence, the question that it answers, and whether it tells something worth keeping."""

    text: str
    question: str
    is_kept: bool


def short_sentences() -> list[LabelledSentence]:
    """Return the labelled sentences of short_sentences.toml, each as often as it counts."""
    told = tomllib.loads(SHORT.read_text(encoding="utf-8"))
    return [
        LabelledSentence(text, question="", is_kept=kind == "kept")
        for kind, texts in told.items()
        for text in texts.strip().splitlines()
        for _ in range(_TIMES)
    ]


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A message that took no part in the training: its score, and the facts that it tells."""

    score: float
    holds_fact: bool  # one told before, or one that needn't be kept, too
    required: frozenset[str]


@dataclass(frozen=True, slots=True)
class GateFigures:
    """How well a threshold separates messages with facts from others."""

    messages: int
    kept: int
    precision: float  # share of the kept messages that hold a fact
    covered: float  # share of the required facts that a kept message tells


def figures_at(threshold: float, messages: Sequence[ScoredMessage]) -> GateFigures:
    """Return the figures of a threshold."""
    kept = [each for each in messages if each.score >= threshold]
    required = {fact for each in messages for fact in each.required}
    told = {fact for each in kept for fact in each.required}
    return GateFigures(
        messages=len(messages),
        kept=len(kept),
        precision=sum(each.holds_fact for each in kept) / (len(kept) or 1),
        covered=len(told) / (len(required) or 1),
    )


def telling_sentences(sentences: Sequence[str], facts: Iterable[str]) -> frozenset[int]:
    """Return the places of the sentences that tell facts: for each fact, the one that shares most words with it."""
    stems = [_stems(each) for each in sentences]
    if not stems:
        return frozenset()
    return frozenset(max(range(len(stems)), key=lambda place: len(stems[place] & _stems(fact))) for fact in facts)


def _stems(text: str) -> frozenset[str]:
    words = (found.group() for found in _WORD.finditer(text.lower()))
    return frozenset(each[:_STEM] for each in words if each not in _SMALL)


def train(
    rows: Sequence[frozenset[str]], labels: Sequence[bool], *, decay: float = _DECAY, least_weight: float = 0.05
) -> LinearModel:
    """Fit a logistic regression to the features of sentences, by Adam over all at once. Raises ValueError without one.

    `decay` pulls weights towards zero; those below `least_weight` are left out.
    """
    if not rows:
        raise ValueError("there is nothing to train from")
    counts = Counter(feature for row in rows for feature in row)
    known = sorted(feature for feature, count in counts.items() if count >= _LEAST_OCCURRENCES)
    bias, weights = _fitted(_Matrix.of(rows, known), np.array(labels, dtype=float), decay)
    rounded = ((feature, round(float(weight), 2)) for feature, weight in zip(known, weights, strict=True))
    kept = {name: weight for name, weight in rounded if abs(weight) >= least_weight}
    return LinearModel(bias=round(bias, 3), weights=kept)


@dataclass(frozen=True, slots=True)
class _Matrix:
    """The features of all sentences: a value at each pair of row and column."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def of(cls, rows: Sequence[frozenset[str]], known: Sequence[str]) -> "_Matrix":
        columns = {feature: column for column, feature in enumerate(known)}
        entries = [
            (place, columns[feature], scale_of(row))
            for place, row in enumerate(rows)
            for feature in sorted(row & columns.keys())
        ]
        table = np.array(entries, dtype=float).reshape(-1, 3)
        return cls(table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2], (len(rows), len(known)))

    def times(self, weights: np.ndarray) -> np.ndarray:
        return np.bincount(self.rows, self.values * weights[self.columns], minlength=self.shape[0])

    def transposed_times(self, errors: np.ndarray) -> np.ndarray:
        return np.bincount(self.columns, self.values * errors[self.rows], minlength=self.shape[1])


def _fitted(matrix: _Matrix, labels: np.ndarray, decay: float) -> tuple[float, np.ndarray]:
    """Return the bias and the weights; the last parameter is the bias, which does not decay."""
    count = matrix.shape[1]
    parameters, mean, square = np.zeros(count + 1), np.zeros(count + 1), np.zeros(count + 1)
    for step in range(1, _STEPS + 1):
        told = 1 / (1 + np.exp(-(matrix.times(parameters[:count]) + parameters[count])))
        errors = (told - labels) / len(labels)
        gradient = np.append(matrix.transposed_times(errors) + decay * parameters[:count], errors.sum())
        mean = _KEPT_MEAN * mean + (1 - _KEPT_MEAN) * gradient
        square = _KEPT_SQUARE * square + (1 - _KEPT_SQUARE) * gradient**2
        direction = (mean / (1 - _KEPT_MEAN**step)) / (np.sqrt(square / (1 - _KEPT_SQUARE**step)) + 1e-8)
        parameters -= (_RATE if step < _SLOW_FROM else _SLOW_RATE) * direction
    return float(parameters[count]), parameters[:count]
