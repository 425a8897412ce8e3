"""Standing rules: conventions and constraints, distinguished from single requests and wishes to someone else."""

import pytest

from tests.pipeline.extraction.extract_helper import contents, said

CONVENTIONS = [
    ("Always answer in bullet points.", "User wants the assistant to always answer in bullet points."),
    ("From now on, write in British English.", "User wants the assistant to always write in British English."),
    ("Please keep answers short from now on.", "User wants the assistant to always keep answers short."),
    ("Write tests first by default.", "User wants the assistant to always write tests first."),
    ("Make sure to use metric units.", "User wants the assistant to always use metric units."),
    (
        "Every time I ask for a route, give me the distance in kilometres.",
        "User wants the assistant to give User the distance in kilometres every time User asks for a route.",
    ),
    (
        "Whenever you send me code, add type hints.",
        "User wants the assistant to add type hints whenever the assistant sends User code.",
    ),
    ("In our code always use type hints.", "User wants the assistant to always use type hints in User's code."),
    (
        "For my mum always write in large letters.",
        "User wants the assistant to always write in large letters for User's mum.",
    ),
    ("I'd like you to keep answers short.", "User wants the assistant to always keep answers short."),
    ("Could you keep answers short from now on?", "User wants the assistant to always keep answers short."),
    ("Can you please always add type hints?", "User wants the assistant to always add type hints."),
    ("And keep the explanations short.", "User wants the assistant to keep the explanations short."),
    (
        "Put weekly status updates as bullet points please.",
        "User wants the assistant to always put weekly status updates as bullet points.",
    ),
    ("Send me a summary every Friday.", "User wants the assistant to always send User a summary every Friday."),
    ("One more thing: always use metric units.", "User wants the assistant to always use metric units."),
]
CONSTRAINTS = [
    ("Never mention prices.", "User wants the assistant to never mention prices."),
    ("Please don't use emojis.", "User wants the assistant to never use emojis."),
    ("Stop using exclamation marks.", "User wants the assistant to never use exclamation marks."),
    ("No more emojis please", "User wants the assistant to never use emojis."),
    ("In future, please don't use emojis.", "User wants the assistant to never use emojis."),
    ("While we're at it: never commit a key to git.", "User wants the assistant to never commit a key to git."),
    ("Could you never mention prices in future?", "User wants the assistant to never mention prices in future."),
    (
        "Never mention salaries in anything you write for me.",
        "User wants the assistant to never mention salaries in anything the assistant writes for User.",
    ),
]


@pytest.mark.parametrize(("text", "content"), CONVENTIONS)
def test_convention(text: str, content: str) -> None:
    (found,) = said(text)
    assert (found.content, found.predicate) == (content, "wants_assistant_to")
    assert "convention" in found.tags


@pytest.mark.parametrize(
    ("text", "language"),
    [("From now on, reply in German.", "German"), ("Actually, answer in English from now on.", "English")],
)
def test_the_language_of_answers_is_one_at_a_time(text: str, language: str) -> None:
    (found,) = said(text)
    assert (found.predicate, found.object.text, found.stateful) == ("reply_language", language, True)
    assert "convention" in found.tags


@pytest.mark.parametrize(("text", "content"), CONSTRAINTS)
def test_constraint(text: str, content: str) -> None:
    (found,) = said(text)
    assert found.content == content
    assert found.tags == ("constraint",)


@pytest.mark.parametrize(
    "text",
    [
        "Never give up!",
        "Don't worry about it.",
        "Don't forget to breathe.",
        "Don't use this one.",
        "Always remember who you are.",
        "Stop it.",
        "Keep it up!",
        "Give me the distance.",
        "Answer in German.",
        "Can you always answer in German?",
        # One task about what is regular.
        "Write a haiku about getting up every morning.",
        "Write a function that runs every day.",
        "Show how to run a cron job every day.",
        "Show me how to run a cron job every day.",
        "Write a poem about my daily commute.",
        "List the daily specials in Spanish.",
        # Rules of a house or a game.
        "The rule: no offside in the own half",
        "My rule: no coffee after 2",
        "One rule: no phones",
        "House rule: no shoes on the carpet",
        # What others always do.
        "They always give us a biscuit there.",
        "My furry friends never leave me.",
        "I never give raws out.",
        # Whom nobody can know later.
        "Don't tell her I cried.",
    ],
)
def test_no_standing_wish(text: str) -> None:
    assert contents(text) == []


def test_what_is_said_beside_a_wish_is_kept() -> None:
    assert contents("Don't suggest anything with pork, we're Muslim.") == [
        "User wants the assistant to never suggest anything with pork.",
        "User is Muslim.",
    ]


def test_a_name_to_be_called_by() -> None:
    (found,) = said("Please call me Max.")
    assert (found.content, found.predicate, found.stateful) == ("User wants to be called Max.", "nickname", True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call me Bex, please.", ["User wants to be called Bex."]),
        ("Call me Bex, nobody calls me Rebecca.", ["User wants to be called Bex."]),
        ("My name is Rebecca, but call me Bex.", ["User wants to be called Bex.", "User's name is Rebecca."]),
        ("I'm Anna Callahan.", ["User is called Anna Callahan."]),
        ("Call me Monday, please.", []),
        ("Please call me Tomorrow.", []),
        ("Please call me an ambulance.", []),
    ],
)
def test_a_name_to_be_called_by_beside_other_words(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'd rather you didn't use emojis.", ["User wants the assistant to never use emojis."]),
        ("I'd prefer it if you didn't call me mate.", ["User wants the assistant to never call User mate."]),
        ("I'd rather you didn't mention it today.", []),
        ("I'd rather you didn't.", []),
        ("I'd rather you didn't use my car.", []),
        ("I'd rather you didn't include the garlic in this recipe.", []),
        ("I'd prefer it if you didn't write that down.", []),
        ("People call me Lazy, nobody understands.", []),
    ],
)
def test_what_somebody_would_rather_not_have(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


def test_a_decision_is_an_event_with_its_tag() -> None:
    (found,) = said("We decided to use PostgreSQL for the tracker.")
    assert (found.type, found.tags) == ("event", ("decision",))
