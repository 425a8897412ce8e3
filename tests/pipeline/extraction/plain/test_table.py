"""The table of plain statements: which clauses it reads, and which it leaves alone."""

import pytest

from apps.pipeline.core.enums import EntityType, MemoryType
from apps.pipeline.extraction.plain import table
from tests.pipeline.extraction.plain.plain_helper import statements, told

_SENTENCES = {
    "My name is Clara Winter.": "User's name is Clara Winter.",
    "I’m 34.": "User is 34 years old.",
    "My birthday is the 3rd of May": "User's birthday is on 3rd of May.",
    "I was born in Accra": "User comes from Accra.",
    "My mother tongue is Twi.": "User's native language is Twi.",
    "I'm happily married to Tom": "User is married.",
    "We live in Stoke-on-Trent with my parents.": "User lives in Stoke-on-Trent.",
    "I just moved from Paris to Lyon last month": "User lives in Lyon.",
    "We're moving to Bergen in June": "User is moving to Bergen in June.",
    "I work as an architect.": "User works as an architect.",
    "My company is called Green Fields": "User works at Green Fields.",
    "I study marine biology at Exeter.": "User studies marine biology.",
    "My wife's name is Ines": "User's wife is Ines.",
    "My dog is called Rex": "Rex is User's dog.",
    "I have two cats": "User has two cats.",
    "My sister Ines lives in Porto.": "Ines, User's sister, lives in Porto.",
    "My brother is a carpenter": "User's brother is a carpenter.",
    "My mother-in-law works at Bosch.": "User's mother-in-law works at Bosch.",
    "My sister's pregnant": "User's sister is pregnant.",
    "My husband is allergic to peanuts": "User's husband is allergic to peanuts.",
    "I have a nut allergy.": "User has a nut allergy.",
    "I have asthma": "User has asthma.",
    "I've been vegan for years": None,  # a note tells it as it was said
    "I'm vegan now": "User is vegan.",
    "I don't eat pork": "User does not eat pork.",
    "I enjoy long walks": "User enjoys long walks.",
    "I can't stand olives.": "User dislikes olives.",
    "I prefer tea over coffee": "User prefers tea over coffee.",
    "My favourite colour is green": "User's favourite colour is green.",
    "I play the cello": "User plays the cello.",
    "We use Postgres 16 at work": "User uses Postgres 16.",
    "Remember that I live in Lyon.": "User lives in Lyon.",
    "Reply in German from now on.": "User wants the assistant to always answer in German.",
    "Always show me the sources.": "User wants the assistant to always show User the sources.",
    "Please don't ever use emojis": "User wants the assistant to never use emojis.",
    "Keep your answers short please": "User wants the assistant to keep the assistant's answers short.",
}
_NOTHING = (
    # Not the speaker, not as it stands, or not so plain.
    "My sister says I am pregnant.",
    "My friend told me I live in Lyon.",
    "In my dream, I live in Rome.",
    "In the game I'm a surgeon and I live in London.",
    "I would move to Lyon if I could.",
    "Maybe I'm allergic to nuts.",
    "I'm allergic to mondays.",
    "I'm allergic to nuts, just kidding.",
    "I'm basically a lawyer at this point.",
    "Let's play: you are the king and I'm a nurse.",
    "Write a letter that says I live in Lyon.",
    "I used to live in Lyon.",
    "I don't live in Lyon.",
    "I live in hope.",
    "I'm from the future.",
    "Hi, I'm Italian.",
    "I love it.",
    "I like how it looks.",
    "I love cooking when it rains.",
    "I have two questions.",
    "I have a severe allergy.",
    "I work for the moment as little as possible.",
    "I'm a bit of a nurse.",
    "I don't eat much.",
    "My favourite is yours.",
    "My sister is 100% right.",
    "Never mind.",
    "Always happy to help.",
    "Never send this to anybody.",
    "Answer in German.",
    "My password is hunter2 and I live in Lyon.",
)


def test_sentences_say_what_the_table_reads() -> None:
    read = {text: [each.content for each in told(text) if each.predicate != "said"] for text in _SENTENCES}
    assert read == {text: [content] if content else [] for text, content in _SENTENCES.items()}


def test_other_sentences_say_nothing() -> None:
    assert {text: found for text in _NOTHING if (found := statements(text))} == {}


def test_a_statement_has_what_later_stages_need() -> None:
    lives, married, named, rule = (
        told(each)[0]
        for each in ("I live in Lyon.", "My wife is called Ines.", "My cat is called Tom.", "Never use tables.")
    )
    assert (lives.predicate, lives.object.entity.type, lives.stateful) == ("lives_in", EntityType.PLACE, True)
    assert lives.subject.is_speaker
    assert lives.evidence == "I live in Lyon."
    assert (married.type, married.predicate, married.stateful) == (MemoryType.RELATION, "has_wife", True)
    assert (named.subject.type, named.predicate, named.object.entity.is_speaker) == (
        EntityType.ANIMAL,
        "cat_of",
        True,
    )
    assert (rule.tags, rule.extractor) == (("constraint",), "plain:never")


def test_a_list_makes_a_statement_for_each_item() -> None:
    assert statements("I'm allergic to nuts, kiwi and soy.") == (
        "User allergic_to nuts",
        "User allergic_to kiwi",
        "User allergic_to soy",
    )


def test_a_group_chat_names_its_speaker() -> None:
    assert [each.content for each in told("I live in Lyon.", speaker="Ana")] == ["Ana lives in Lyon."]


@pytest.mark.parametrize(
    "text", ["my " * 5_000, "I live in " + "Lyon " * 2_000, "and I'm " * 3_000, "always use " * 999]
)
def test_long_sentences_are_not_plain(text: str) -> None:
    assert table.read(text) == table.Reading()
