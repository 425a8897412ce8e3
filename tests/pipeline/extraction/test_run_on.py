"""Where a statement begins in words without punctuation."""

import pytest

from apps.pipeline.extraction.patterns.sentences import sentences_of


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "I was a lineman forty one years with Idaho Power so I don't text good my hands are all tore up",
            ["I was a lineman forty one years with Idaho Power", "so I don't text good", "my hands are all tore up"],
        ),
        (
            "im zay from leeds and im 16 n i need help with all of my exams please today",
            ["im zay from leeds", "and im 16", "n i need help with all of my exams please today"],
        ),
        # What follows a condition or a saying stays with it.
        (
            "if I get the job in the end and she lets me I'm moving to Rome with all of them",
            ["if I get the job in the end and she lets me I'm moving to Rome with all of them"],
        ),
        (
            "my neighbour says he has the same thing and that I should take it every day instead",
            ["my neighbour says he has the same thing and that I should take it every day instead"],
        ),
        # Text with punctuation is left as it is.
        (
            "I live in Lyon, I work as a carpenter, and I have two children, who are at school.",
            ["I live in Lyon, I work as a carpenter, and I have two children, who are at school."],
        ),
        (
            "Do you think that I live too far away and I should move to a town that is much nearer?",
            ["Do you think that I live too far away and I should move to a town that is much nearer?"],
        ),
    ],
)
def test_statements_of_a_run_on_sentence(text: str, parts: list[str]) -> None:
    assert [each.text for each in sentences_of(text)] == parts
