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
        "I like option B.",
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
        "My essay:\nI grew up in Leeds.",
    ],
)
def test_a_text_that_is_handed_over_is_not_the_speakers_word(text: str) -> None:
    assert contents(text) == []


def test_what_is_said_before_a_text_is_kept() -> None:
    assert contents("I live in Bonn. Proofread this:\nI live in Rome.") == ["User lives in Bonn."]


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
    ("text", "content"),
    [
        ("Can you remember that my anniversary is 3 May?", "User's anniversary is on 3 May."),
        ("Could you please remember that I'm vegan?", "User is vegan."),
        ("Don't forget I'm allergic to nuts.", "User is allergic to nuts."),
        ("Keep in mind that I live in Lyon.", "User lives in Lyon."),
        ("Make a note that my landlord is Huber.", "User's landlord is Huber."),
        ("I want you to remember that I hate cilantro.", "User hates cilantro."),
    ],
)
def test_what_is_asked_to_be_remembered_is(text: str, content: str) -> None:
    assert contents(text) == [content]


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


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I'm the CEO of Acme.", "User is the CEO of Acme."),
        ("I'm a nurse.", "User is a nurse."),
        ("My app is written in Django.", "User's app is written in Django."),
        ("I use Docker for everything.", "User uses Docker."),
        ("I rarely sleep before midnight.", "User rarely sleeps before midnight."),
        ("My answer is the same: I live in Rome.", "User lives in Rome."),
        ("I work with Maria.", "User works with Maria."),
        ("I have a library card.", "User has a library card."),
        ("I got a puppy from the shelter.", "User got a puppy from the shelter."),
        ("I have two kids. How many tickets do we need?", "User has two kids."),
    ],
)
def test_what_lasts_is_still_kept(text: str, content: str) -> None:
    assert contents(text) == [content]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I moved to Kiel last week.", "User lives in Kiel."),
        ("I just moved to San Francisco two weeks ago.", "User lives in San Francisco."),
        ("We moved to Kiel this week.", "User lives in Kiel."),
        ("I moved to Kiel a month ago.", "User lives in Kiel."),
        ("I moved to Kiel a few days ago.", "User lives in Kiel."),
        ("I moved to Kiel earlier this year.", "User lives in Kiel."),
        ("I got married last week.", "User got married last week."),
    ],
)
def test_when_something_happened_is_no_thing_that_is_worked_on(text: str, content: str) -> None:
    assert contents(text) == [content]
