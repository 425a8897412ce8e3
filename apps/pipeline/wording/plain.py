"""Plain words: a sentence in English, without turns of phrase, contractions and ways to write a day or an hour."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from apps.pipeline.wording.dutch import DUTCH
from apps.pipeline.wording.english import CONTRACTIONS, INTENSIFIERS, IRREGULAR, SMALL, TURNS
from apps.pipeline.wording.french import FRENCH
from apps.pipeline.wording.german import GERMAN
from apps.pipeline.wording.italian import ITALIAN
from apps.pipeline.wording.moments import in_plain_moments
from apps.pipeline.wording.numerals import in_digits
from apps.pipeline.wording.portuguese import PORTUGUESE
from apps.pipeline.wording.shapes import in_plain_shape
from apps.pipeline.wording.spanish import SPANISH
from apps.pipeline.wording.tongue import Tongue, entries, phrasebook, said_by, split_elisions
from apps.pipeline.wording.verbs import forms_of, in_form

_TONGUES = (SPANISH, GERMAN, FRENCH, PORTUGUESE, ITALIAN, DUTCH)
_ENGLISH = SMALL | frozenset(
    re.findall(r"[a-z]+", TURNS + IRREGULAR)
    + """
    user likes lives works owns plays speaks eats drinks wears wants needs prefers dislikes loves never every no of
    hat hats man mare chat chats court chef auto solo pure rent land link links tag rad gut war pays sale note
    """.split()
)
_LETTERS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*'?")
_NOT = re.compile(r"\b(\w+)n't\b")


@lru_cache(maxsize=16_384)
def in_plain_words(text: str) -> str:
    """Return a sentence in plain English words; names and words that no table knows stay as they are."""
    text = text.replace("’", "'")
    spoken = tongue_of(text)
    text = _translated(text, spoken) if spoken else _NOT.sub(r"\1 not", said_by(_DRAWN_TOGETHER, text))
    text = in_plain_moments(in_digits(text))
    text = said_by(_BOOK, text)
    return in_plain_shape(said_by(_BOOK, text) if " not " in text else text)


def tongue_of(text: str) -> Tongue | None:
    """Return the tongue that knows most of the words, None for English and for what no tongue knows better."""
    words = [word.casefold() for word in _LETTERS.findall(text) if word != "User"]
    known = Counter(tongue for word in words for tongue in _SPOKEN.get(word, ()))
    if not known:
        return None
    best, _ = known.most_common(1)[0]
    foreign = sum(word in _TONGUES[best].words and word not in _ENGLISH for word in words)
    english = sum(word in _ENGLISH and word not in _TONGUES[best].words for word in words)
    return _TONGUES[best] if foreign > english else None


def _translated(text: str, spoken: Tongue) -> str:
    if spoken.elides:
        text = split_elisions(text)
    if spoken.brackets:
        text = spoken.brackets.sub(r"\1 \3 \2", text)
    if spoken is GERMAN:
        text = _common_nouns(text.replace("Users ", "User's "))
    return said_by(spoken.book, text)


_GERMAN_NOUN = re.compile(
    r"\b((?:[Dd](?:er|ie|as|en|em|es)|(?:[Kk]?[Ee]in|[Ii]hr|[Ss]ein)(?:e|en|em|er|es)?|[Ii]m|[Aa]m|[Bb]eim|[Zz]u[mr])"
    r"(?: [a-zäöüß]+)?) ([A-ZÄÖÜ])(\w+)"
)


def _common_nouns(text: str) -> str:
    """Write German nouns after an article small: they name nobody."""
    return _GERMAN_NOUN.sub(
        lambda found: found[0] if found[2] + found[3] == "User" else f"{found[1]} {found[2].lower()}{found[3]}", text
    )


def _spelled_out() -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each turn of phrase in every form of its verb, with and without "not" after "be"."""
    for words, said in entries(TURNS):
        if not said.startswith("~"):
            yield words, said
            continue
        verb, _, rest = said[1:].partition(" ")
        for form, ending in ({words[0]: "s"} if words[0] == "can" else forms_of(words[0])).items():
            told = f"{in_form(verb, ending)} {rest}".strip()
            yield (form, *words[1:]), told
            if words[0] == "be" and words[1] != "not":
                yield (form, "not", *words[1:]), f"not {told}"
    for word in INTENSIFIERS:
        yield (word,), ""


_BOOK = phrasebook(_spelled_out())
_DRAWN_TOGETHER = phrasebook(entries(CONTRACTIONS))
_SPOKEN: dict[str, tuple[int, ...]] = {
    word: tuple(place for place, each in enumerate(_TONGUES) if word in each.words)
    for word in {word for each in _TONGUES for word in each.words}
}
