"""Training of the gate, on sentences made for it and on the gold lists."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from apps.pipeline.extraction import wishes
from apps.pipeline.extraction.linear_model import read_models
from apps.pipeline.extraction.plain.gate import WEIGHTS
from benchmarks.gate_training import (
    GateFigures,
    ScoredMessage,
    figures_at,
    telling_sentences,
)
from benchmarks.wish_training import PROMISED, load, train_wishes


def test_the_sentence_with_the_most_words_of_a_fact_tells_it() -> None:
    said = ("Hello!", "I moved to Leeds in March.", "My wife sings in a choir.")
    assert telling_sentences(said, ["The user lives in Leeds since March.", "His wife sings."]) == {1, 2}
    assert telling_sentences(said, []) == frozenset()
    assert telling_sentences((), ["His wife sings."]) == frozenset()


def test_figures_count_messages_and_required_facts() -> None:
    messages = [
        ScoredMessage(0.9, holds_fact=True, required=frozenset({"a", "b"})),
        ScoredMessage(0.8, holds_fact=False, required=frozenset()),
        ScoredMessage(0.2, holds_fact=True, required=frozenset({"b", "c", "d"})),
    ]
    assert figures_at(0.7, messages) == GateFigures(messages=3, kept=2, precision=0.5, covered=0.5)
    assert figures_at(0.95, messages) == GateFigures(messages=3, kept=0, precision=0.0, covered=0.0)


def test_the_shipped_gate_is_made_from_the_gold_lists(tmp_path: Path) -> None:
    written, printed = tmp_path / "gate.json", StringIO()
    call_command("train_gate", to=written, stdout=printed)
    made, shipped = (read_models(each)["gate"] for each in (written, WEIGHTS))
    assert made.weights == pytest.approx(shipped.weights, abs=0.02)  # as processors round
    figures = re.findall(r"at (\S+): .* precision (\S+), required facts covered (\S+)", printed.getvalue())
    assert [float(threshold) for threshold, _, _ in figures] == [0.5, 0.7]
    assert min(map(float, figures[-1][1:])) >= 0.8


@pytest.mark.soak
def test_the_shipped_models_of_wishes_are_made_from_the_labelled_sentences() -> None:
    shipped, sentences = read_models(wishes.WEIGHTS), load()
    promised = [wishes.features_of(each.text) for each in sentences if each.author in PROMISED]
    for wish, made in train_wishes(sentences).items():
        told = [shipped[wish].probability(each) for each in promised]
        assert [made.probability(each) for each in promised] == pytest.approx(told, abs=0.05)  # as processors round
