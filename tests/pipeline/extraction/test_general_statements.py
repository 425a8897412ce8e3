"""Statements without a typed row: attributes, important things, events and habits, in well-formed sentences."""

import pytest

from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "content", "predicate", "value"),
    [
        ("My name is Ana Kowalska.", "User's name is Ana Kowalska.", "name", "Ana Kowalska"),
        ("My name is actually Thomas, not Tom.", "User's name is Thomas.", "name", "Thomas"),
        ("My birthday is on 14 June.", "User's birthday is on 14 June.", "birthday", "14 June"),
        ("My favourite film is Ran.", "User's favourite film is Ran.", "favourite_film", "Ran"),
        ("My car is a blue Golf.", "User's car is a blue Golf.", "car", "blue Golf"),
        ("My goal is to run a marathon.", "User's goal is to run a marathon.", "goal", "to run a marathon"),
        ("My guinea pig's name is Oscar.", "User's guinea pig's name is Oscar.", "guinea_pig_name", "Oscar"),
        ("My time zone is CET.", "User's time zone is CET.", "timezone", "CET"),
    ],
)
def test_attributes(text: str, content: str, predicate: str, value: str) -> None:
    (found,) = said(text)
    assert (found.content, found.predicate, found.object.text) == (content, predicate, value)


@pytest.mark.parametrize("text", ["My point is that.", "My day was great.", "My question is what?", "My car is here."])
def test_attributes_of_the_moment_are_left(text: str) -> None:
    assert contents(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Painting helps me relax after work.", ["Painting helps Ana relax after work."]),
        ("Family is really important to me.", ["Family is really important to Ana."]),
        ("Cooking and baking are my main hobbies.", ["Cooking and baking are Ana's main hobbies."]),
        ("This ring reminds me of my grandmother.", ["The ring reminds Ana of Ana's grandmother."]),
        ("Nature is so therapeutic for me.", ["Nature is so therapeutic for Ana."]),
        ("Dark chocolate is a must for me.", ["Dark chocolate is a must for Ana."]),
        ("The storm forced us to cancel our trip.", ["The storm forced Ana to cancel Ana's trip."]),
        ("Exams and deadlines got me feeling tense.", ["Exams and deadlines got Ana feeling tense."]),
        (
            "Seeing my goals on paper really helps keep me motivated.",
            ["Seeing Ana's goals on paper really helps keep Ana motivated."],
        ),
        ("Knitting scarves is my favourite!", ["Knitting scarves is Ana's favourite."]),
        ("Swimming lifts my mood.", ["Swimming lifts Ana's mood."]),
        ("Gardening is great. It calms me after work.", ["Gardening calms Ana after work."]),
        ("Pets are wonderful. They always cheer me up.", ["Pets always cheer Ana up."]),
        ("Pottery is great. They always cheer me up.", []),
        ("Sounds great. It helps me sleep.", []),
        ("Your words mean a lot to me.", []),
        ("It makes me happy.", []),
        ("That means the world to me.", []),
    ],
)
def test_what_matters(text: str, expected: list[str]) -> None:
    assert contents(text, speaker="Ana") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to a support group yesterday.", "Ana went to a support group yesterday."),
        ("I've been working on my own recipes lately.", "Ana has been working on their own recipes lately."),
        ("We had a picnic by the lake last weekend!", "Ana had a picnic by the lake last weekend."),
        ("I took my nephew to the zoo.", "Ana took Ana's nephew to the zoo."),
        ("Our team won the cup on Saturday.", "Ana's team won the cup on Saturday."),
        ("Here's a photo of our garden in spring.", "Ana shared a photo of their garden in spring."),
        ("I lost my keys at the market.", "Ana lost their keys at the market."),
        ("I ran the marathon in 3:58 last Sunday.", "Ana ran the marathon in 3:58 last Sunday."),
        ("I paid 1,200 euros for the roof.", "Ana paid 1,200 euros for the roof."),
        ("I felt nervous before the talk.", "Ana felt nervous before the talk."),
        ("I wanted to tell you I just joined a choir in town.", "Ana joined a choir in town."),
        ("I baked a plum cake for you.", "Ana baked a plum cake."),
        ("I made this bowl in class.", "Ana made the bowl in class."),
        ("I have wanted to paint since I was young.", "Ana has wanted to paint since Ana was young."),
        ("I'm gonna paint the fence in May.", "Ana is going to paint the fence in May."),
        ("I've been busy getting ready for the marathon.", "Ana has been busy getting ready for the marathon."),
        ("I'm much happier around those who know me.", "Ana is much happier around those who know Ana."),
        ("I felt so accomplished reaching the top.", "Ana felt so accomplished reaching the top."),
        ("I'm giving one-on-one lessons in town.", "Ana is giving one-on-one lessons in town."),
        ("Now my evenings feel a lot calmer.", "Ana's evenings feel a lot calmer."),
        ("Here's one of my drawings from the class.", "Ana shared one of their drawings from the class."),
        ("My sourdough's been a disaster.", "Ana's sourdough has been a disaster."),
        ("We roast chestnuts on the balcony.", "Ana roasts chestnuts on the balcony."),
        ("I usually try to leave the city on weekends.", "Ana usually tries to leave the city on weekends."),
        ("I opened my own bakery not too long ago!", "Ana opened their own bakery not too long ago."),
        ("I've been tweaking a recipe to make it lighter.", "Ana has been tweaking a recipe."),
        ("I bake a lot since I can't hike.", "Ana bakes a lot since Ana can't hike."),
    ],
)
def test_events_in_free_words(text: str, expected: str) -> None:
    assert contents(text, speaker="Ana") == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "I'm here for you.",
        "I'm so proud of you!",
        "I can't wait to see it.",
        "I hope so.",
        "I know what that means.",
        "I appreciate it.",
        "I see.",
        "I guess that works.",
        "I reccomend it.",
        "I wonder how.",
        "You went to Rome.",
        "It was fun.",
        "They said hello.",
        "Sounds good to me.",
        "Let's go to Rome.",
        "Gonna be awesome!",
        "I'm gonna make my dreams come true.",
        "We're gonna have a blast!",
        "Gonna keep pushing and working hard.",
        "Won't let anything hold me back!",
        "I agree with all of that.",
        "I first heard.",
        "I bet they'll love it.",
        "I wanted to let you know.",
        "I'm excited to see it!",
        "I can do that together with them.",
        "I love how you sing and teach people.",
    ],
)
def test_talk_about_the_talk_is_left(text: str) -> None:
    assert contents(text, speaker="Ana") == []


def test_free_words_are_less_sure_than_rows() -> None:
    (free,), (row,) = said("I lost my keys.", speaker="Ana"), said("I live in Rome.")
    assert free.adjustment < row.adjustment == 0
