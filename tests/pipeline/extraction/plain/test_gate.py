"""The gate: features of a sentence, and the weights that come with the product."""

from apps.pipeline.extraction.plain.gate import WEIGHTS, score


def test_the_shipped_weights_tell_facts_from_requests() -> None:
    assert WEIGHTS.stat().st_size < 80_000
    told = (
        "My wife is allergic to penicillin",
        "We moved to a flat in Leeds in March",
        "my boss moved our meeting to tuesdays",
    )
    asked = ("What is the capital of Peru?", "Thanks a lot!", "Make it shorter", "Can you explain that again")
    assert min(map(score, told)) > 0.7
    assert max(map(score, asked)) < 0.3
