"""Talk about the task at hand is not extracted, because it would be wrong tomorrow."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    "text",
    [
        "I have a function that returns None.",
        "In this code, I have a list of users.",
        "I have an error in my code.",
        "I have a class called Foo.",
        "I got an error.",
        "I got a weird message after the update.",
        "I ran the tests and they passed.",
        "I updated the dependencies.",
        "I changed the color to red.",
        "I pasted the log below.",
        "I've attached the file.",
        "I renamed the variable.",
        "I installed the package again.",
        "I use a for loop here.",
        "I'm using this function a lot.",
        "My query is slow.",
        "My code is broken.",
        "My tests are failing.",
        "My homework is due tomorrow.",
        "I need a recipe for dinner tonight.",
        "I need this by Friday.",
        "I need three ideas for a slogan.",
    ],
)
def test_steps_and_states_of_the_work_are_left(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I hate this bug.",
        "I hate those people.",
        "I prefer the second option.",
        "I love the first version.",
        "I like the last one better.",
        "I prefer these two.",
        "I use that one.",
    ],
)
def test_a_choice_among_what_is_shown_is_no_taste(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I have 3 apples and give away 2, how many are left?",
        "I bought 5 apples for $2 each. How much did I pay in total?",
        "I drive 60 miles in two hours. How many miles do I drive in one?",
    ],
)
def test_sums_are_no_life(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Summarise this: I live in Rome and love it.",
        "Proofread this:\nI live in Rome. I have two dogs.",
        "Can you translate the following into German: My sister lives in Oslo.",
        "Here's my cover letter:\n\nI am a nurse. I live in Bonn.",
        "Please fix the grammar in my email: I has moved to Rome.",
    ],
)
def test_a_text_that_is_handed_over_is_not_the_speakers_word(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "My password is hunter2.",
        "Our wifi password is sunflower99.",
        "My PIN is 1234.",
        "My API key is sk-abc123.",
        "My credit card number is 4111 1111 1111 1111.",
        "My social security number is 078-05-1120.",
        "I use hunter2 as my password.",
        "The password of my bank account is hunter2.",
    ],
)
def test_secrets_are_never_remembered(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm in Paris right now.",
        "I'm in Berlin for the weekend.",
        "I'm in my thirties.",
        "I live in the moment.",
        "I live for weekends.",
        "We moved here three years ago.",
        "I was told that Paris is the capital of France.",
        "I read that coffee is good for you.",
    ],
)
def test_words_that_only_look_like_a_fact(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Do you remember my dog's name?",
        "Can you remember my name?",
        "Remember when I told you about Rome?",
        "Don't forget to write the tests.",
    ],
)
def test_other_words_of_memory_tell_nothing(text: str) -> None:
    assert contents(text) == []
