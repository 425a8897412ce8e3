"""How far a message is plainly its author's own talk: a table of messages whose quote waits, and one of plain talk."""

import pytest

from apps.pipeline.provenance.own_words import is_plain_talk, read_words, talk_end

# A message, and a quote from it that waits for a reviewer without a model.
WAITS = [
    # Layout that talk has not.
    ("[voicemail 0:31] hey its me, i live over in Leith now\n\nmake a list out of it", "i live over in Leith now"),
    ("who wrote this ^9ab1 (Pia K 2023-02-11) // I work only mornings", "I work only mornings"),
    ("git log --oneline | head a1 I never use tabs b2 my laptop runs Fedora", "my laptop runs Fedora"),
    ("past tense drill: I ___ (to live) in Madrid for ten years.", "in Madrid for ten years."),
    ("TIL I have been tying my shoes wrong for years [9k upvotes]", "I have been tying my shoes wrong for years"),
    ("AITA for keeping my cabin? I don't like dogs in it. -- how would you vote", "I don't like dogs in it."),
    ('user=kim msg="i moved to Busan" how many users', "i moved to Busan"),
    ("rhyme it - I work the mill / I lost my ring / I lost my crown", "I lost my ring"),
    # A question that may be about the text below it.
    ("any typos? the letter of my flatmate follows. I am a carpenter.", "I am a carpenter."),
    ("Subjunctive or indicative? J'habite à Cassis.", "J'habite à Cassis."),
    ("whats the metre of these lines\n\nI dwell beyond the river Wye", "I dwell beyond the river Wye"),
    # A label that is not the speaker's.
    ("Kürze das auf 2 Sätze: Nach 20 Jahren verlasse ich die Bank.", "Nach 20 Jahren verlasse ich die Bank."),
    ("diktat von frau dr. sommer bitte ins reine: ich habe seit gestern fieber", "ich habe seit gestern fieber"),
    ("Render in Dutch: I take sleeping pills.", "I take sleeping pills."),
    ("Jeu de rôle : je suis Gaspard, ancien marin.", "je suis Gaspard, ancien marin."),
    ("lass uns ein gespräch üben, ich spiele den gast: ich komme aus Linz", "ich komme aus Linz"),
    # A role for the reader.
    ("You are a pirate. My daughter has asthma.", "My daughter has asthma."),
    ("you are my coach. I have a bad knee.", "I have a bad knee."),
]
PLAIN = [
    ("I moved to Kassel last month. Could you translate this word for a card?", "I moved to Kassel last month."),
    ("I changed jobs, I'm at the archive now. Shorten this: I was late.", "I changed jobs, I'm at the archive now."),
    ("What can I eat before a run? I'm vegan.", "I'm vegan."),
    ("And one more thing: I started at the museum.", "I started at the museum."),
    ("Update: I moved to Bergen", "I moved to Bergen"),
    ('can you proofread this? "Dear Sir, please find it attached." I\'m an illustrator.', "I'm an illustrator."),
    ("Traceback (most recent call last):\nKeyError: 'id'\n\nany idea? I'm on Ubuntu", "I'm on Ubuntu"),
    ("Good morning!\n\nI live in Nantes now.\n\nWhat do you suggest?", "I live in Nantes now."),
    ("you're right, I live in Oslo. thanks", "you're right, I live in Oslo."),
    ("We won (in the rain) and I scored twice <3", "We won (in the rain) and I scored twice"),
]


@pytest.mark.parametrize(("message", "quote"), WAITS)
def test_what_may_be_a_handed_over_text_is_no_plain_talk(message: str, quote: str) -> None:
    words = read_words(message)
    assert not (is_plain_talk(words, quote) and words.has_own(quote))


@pytest.mark.parametrize(("message", "quote"), PLAIN)
def test_what_the_author_says_is_plain_talk(message: str, quote: str) -> None:
    words = read_words(message)
    assert words.has_own(quote)
    assert is_plain_talk(words, quote)


def test_talk_ends_at_the_first_sign() -> None:
    message = "I live in Oslo. any typos? I live in Rome."
    assert message[: talk_end(message)] == "I live in Oslo. any typos? "
