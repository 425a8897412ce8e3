"""The gate: features of a sentence, and the weights that come with the product."""

from apps.pipeline.extraction.linear_model import LinearModel, from_json, to_json
from apps.pipeline.extraction.plain.gate import WEIGHTS, features_of, score

_FEATURES = (
    ("I moved", {"i", "moved", "^ i", "i moved", "=first person", "=length 0"}),
    ("Paid 300 to Ana?", {"#", "paid #", "?", "=digit", "=name"}),
    ("would you", {"=conditional"}),
    ("if it rains", {"=unreal"}),
    ("can you help", {"=asks"}),
    ("i’m here", {"i'm", "=first person"}),
)


def test_features_are_words_pairs_and_shapes() -> None:
    assert {text: missing for text, expected in _FEATURES if (missing := expected - features_of(text))} == {}


def test_the_question_before_has_features_of_its_own() -> None:
    assert features_of("Lyon", "Where do you live?") - features_of("Lyon") == {
        "=answer",
        *(f"asked {word}" for word in ("where", "do", "you", "live", "?")),
    }


def test_work_is_bounded() -> None:
    assert features_of("word " * 100_000) == features_of("word " * 1_000)
    assert len(features_of(" ".join(f"w{number}x" for number in range(10_000)))) < 150


def test_the_score_is_logistic() -> None:
    model = LinearModel(bias=-1.0, weights={"i": 9.0})
    assert round(model.probability(frozenset({"you"})), 2) == 0.27
    assert model.probability(frozenset({"i"})) > 0.8
    assert from_json(to_json({"gate": model})) == {"gate": model}


def test_the_shipped_weights_tell_facts_from_requests() -> None:
    assert WEIGHTS.stat().st_size < 60_000
    told = (
        "My wife is allergic to penicillin",
        "We moved to a flat in Leeds in March",
        "my boss moved our meeting to tuesdays",
    )
    asked = ("What is the capital of Peru?", "Thanks a lot!", "Make it shorter", "Can you explain that again")
    assert min(map(score, told)) > 0.7
    assert max(map(score, asked)) < 0.3
