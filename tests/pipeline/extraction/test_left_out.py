"""What hasty writers leave out: capitals, subjects, whose a thing is."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("joel's asthmatic", ["Joel is asthmatic."]),
        ("bex's sister is veggie", ["Bex's sister is vegetarian."]),
        ("today's mum jokes are great", []),
        ("redis works as a cache", []),
        ("Whoever lives in Berlin pays more.", []),
        ("been vegan for six years", ["User is vegan."]),
        ("work at a bakery in Leeds", ["User works at a bakery in Leeds."]),
        ("work out the sum of these", []),
        ("work for Acme", ["User works at Acme."]),
        ("work from home on Fridays", ["User works from home on Fridays."]),
        ("Work from home tips please", []),
        ("work at height regulations", []),
        ("Work for hire agreement", []),
        ("work for peace", []),
        ("live at the Apollo is funny", []),
        ("own a house or rent one", []),
        ("own a van", ["User owns a van."]),
        ("live with two cats", ["User lives with two cats."]),
        (
            "I went there with Derek. Derek, that's my husband, he has asthma.",
            ["User's husband is Derek.", "Derek has asthma."],
        ),
        ("new roommate: Farah", ["Farah is User's roommate."]),
        ("I've a question about Django", []),
        ("I have a hunch about Tom", []),
        ("I have a theory about Trump", []),
        ("I have a component in React", []),
        ("I've got an Amazon delivery coming", []),
        ("I have a plumber coming on Tuesday", []),
        ("Priyanka is going on leave in July", ["Priyanka is going on leave in July."]),
        ("Priyanka is going on about July again", []),
        ("So I take the bus to work", ["User takes the bus to work."]),
        (
            "Be concise and no emojis please.",
            ["User wants the assistant to be concise.", "User wants the assistant to never use emojis."],
        ),
        ("Be careful on the road.", []),
        ("Trouble is my hands", []),
        ("me and joel (boyfriend) rent a flat", ["User's boyfriend is Joel."]),
        ("Ask Mark. Mark, he's a plumber", ["Mark is a plumber."]),
        # A name that stands nowhere else may be any word: somebody's fact is never the user's.
        ("Mark, he's a plumber", ["He is a plumber."]),
        ("Yeah, he's allergic to peanuts", ["He is allergic to peanuts."]),
        ("Right, she's diabetic", ["She is diabetic."]),
        ("Yeah, he's on metformin", ["He is on metformin."]),
        ("Yeah, she's got asthma", ["She has asthma."]),
        ("Actually, he's vegetarian", ["He is vegetarian."]),
        ("True, he's deaf", ["He is deaf."]),
        ("Ok, he's my brother", []),
        ("Basically, who's my boss, is a pain", []),
        ("Not tree nuts, they send me to the ER.", ["Tree nuts send User to the ER."]),
        ("Ken's leaving, last day is April 24", []),
        ("new character is Brom, a dwarf with gout", ["User's new character is Brom."]),
        ("dinner with chickpeas, 20 mins max", []),
        (
            "House rule on our team: every migration is reversible, nobody deploys on Fridays",
            ["User wants the assistant to follow the rule: every migration is reversible, nobody deploys on Fridays."],
        ),
        ("My mum can't manage the stairs anymore", ["User's mum can no longer manage the stairs."]),
    ],
)
def test_what_is_left_out_is_understood(text: str, expected: list[str]) -> None:
    assert contents(text) == expected
