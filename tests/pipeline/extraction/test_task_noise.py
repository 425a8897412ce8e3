"""What the plain extractor leaves: the task at hand, tastes of a moment, handed-over texts, secrets."""

import pytest

from tests.pipeline.extraction.extract_helper import contents

LEFT = [
    # Steps and states of the work are left.
    "I have a function that returns None.",
    "I have a class called Foo.",
    "I got a weird message after the update.",
    "I ran the tests and they passed.",
    "I changed the color to red.",
    "I've attached the file.",
    "I installed the package again.",
    "I use a for loop here.",
    "My query is slow.",
    "My homework is due tomorrow.",
    "I need a recipe for dinner tonight.",
    "I need three ideas for a slogan.",
    # A choice among what is shown is no taste.
    "I hate this bug.",
    "I prefer the second option.",
    "I love the first version.",
    "I use that one.",
    # Sums are no life.
    "I have 3 apples and give away 2, how many are left?",
    "I drive 60 miles in two hours. How many miles do I drive in one?",
    # A text that is handed over is not the speakers word.
    "Summarise this: I live in Rome and love it.",
    "Proofread this:\nI live in Rome. I have two dogs.",
    "Can you translate the following into German: My sister lives in Oslo.",
    "Here's my cover letter:\n\nI am a nurse. I live in Bonn.",
    "Please fix the grammar in my email: I has moved to Rome.",
    # Secrets are never remembered.
    "My password is hunter2.",
    "My PIN is 1234.",
    "My credit card number is 4111 1111 1111 1111.",
    "I use hunter2 as my password.",
    "The password of my bank account is hunter2.",
    # Words that only look like a fact.
    "I'm in Paris right now.",
    "I'm in my thirties.",
    "I live in the moment.",
    "We moved here three years ago.",
    "I was told that Paris is the capital of France.",
    # Other words of memory tell nothing.
    "Do you remember my dog's name?",
    "Remember when I told you about Rome?",
    "Don't forget to write the tests.",
]


@pytest.mark.parametrize("text", LEFT)
def test_nothing_is_extracted(text: str) -> None:
    assert contents(text) == []
