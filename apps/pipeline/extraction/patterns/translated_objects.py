"""What follows the verb of a foreign clause, in English: prepositions, articles, numbers and the nouns that are known."""

import re
from collections.abc import Sequence

import re2

from apps.pipeline.lexicon.calendar import MONTHS
from apps.pipeline.lexicon.health_terms import MEDICINE, english_medicine
from apps.pipeline.lexicon.translation import Grammar

_LONGEST_PHRASE = 4  # words
# What is taken, eaten, liked or spoken has no article in English: "prendre de la vitamine D", "détester les champignons".
_WITHOUT_ARTICLE = frozenset(
    "take eat drink have like love hate prefer speak learn play study tolerate like sold expecting".split()
)
_ARTICLES = ("of the ", "of ", "the ", "to the ")
_PREPOSITIONS = {
    "live": "in",
    "lived": "in",
    "used to live": "in",
    "move": "to",
    "moved": "to",
    "switched": "to",
    "come": "from",
    "be going": "to",
}
_USUALLY = {"pour": "for", "für": "for", "para": "for", "nach": "to", "beim": "at", "bei": "at", "chez": "at"}
_EMPLOYED = ("work", "worked", "used to work", "study", "studied")
_NO_SPACE_BEFORE = re.compile(r" (?=[,.;:!?)])|(?<=\() |(?<=') ")
_MEDICINE = re2.compile(rf"(?i)^{MEDICINE}$")
_HOUR = re.compile(r"^(\d{1,2})h(\d\d)?$")
_ORDINAL = re.compile(r"^(\d+)\.$")
_COMPOUND = re.compile(r"(?i)^(\w{3,})allergie$")
_FROM = re.compile(r"^of ")
# What says when goes to the end, as English has it.
_TIME_FIRST = re.compile(
    rf"^(again|today|yesterday|(?:last|next|every|since) [\w.]+|since \w+ \d{{4}}|in (?:the )?(?:morning|evening|{'|'.join(map(str.capitalize, MONTHS))})|on \d+ [A-Z]\w+) ([^,]+)(.*)$"
)
_AGED = re.compile(r"\((\d+) years\)")


def translated_object(tokens: Sequence[str], grammar: Grammar, *, verb: str) -> str:
    """Translate word by word, the longest phrase first; what is not known stays."""
    said = _placed(tuple(tokens), grammar, verb)
    text = _NO_SPACE_BEFORE.sub("", " ".join(said))
    text = _AGED.sub(r"(\1)", " ".join(text.split()))
    if verb != "be":
        text = _TIME_FIRST.sub(r"\2 \1\3", text)
    base = verb.rpartition(" ")[2]
    if base in _WITHOUT_ARTICLE:
        return _without_article(text)
    return text.removeprefix("of ") if base == "be" else _FROM.sub("from ", text) if base == "come" else text


def _without_article(text: str) -> str:
    article = next((each for each in _ARTICLES if text.startswith(each)), "")
    return text.removeprefix(article)


def _placed(tokens: tuple[str, ...], grammar: Grammar, verb: str) -> list[str]:
    """Translate; a preposition of place says what the verb asks for: "live in", "work at", "move to"."""
    folded = [token.casefold() for token in tokens]
    said: list[str] = []
    place = 0
    while place < len(tokens):
        size = next(
            (
                size
                for size in range(_LONGEST_PHRASE, 0, -1)
                if tuple(folded[place : place + size]) in grammar.words and len(folded) >= place + size
            ),
            0,
        )
        if (date := _before_day(folded, place)) is not None:
            said.append(date)
            place += 1
        elif size > 1 or (size and folded[place] not in grammar.places):
            said.append(grammar.words[tuple(folded[place : place + size])])
            place += size
        elif folded[place] in grammar.places:
            said.append(_preposition(tokens, folded, place, grammar, verb))
            place += 1
        else:
            said.append(_unknown(tokens[place]))
            place += 1
    return said


def _unknown(token: str) -> str:
    """Return a word that no table knows: medicines and times of day are written as in English."""
    if _MEDICINE.match(token):
        return english_medicine(token)
    return _HOUR.sub(
        lambda found: f"{found[1]}:{found[2] or '00'}", _ORDINAL.sub(r"\1", _COMPOUND.sub(r"\1 allergy", token))
    )


def _preposition(tokens: Sequence[str], folded: Sequence[str], place: int, grammar: Grammar, verb: str) -> str:
    following = folded[place + 1] if place + 1 < len(folded) else ""
    is_article = grammar.words.get((following,), "") in ("the", "a")
    said = _PREPOSITIONS.get(verb, "")
    if grammar.words.get((following,), "").lower() in MONTHS:
        return "in"
    if following[:1].isdigit():
        return _before_number(folded, place)
    if verb in _EMPLOYED:
        named = folded[place] in grammar.at or is_article or grammar.code == "es"
        said = "at" if named else "in"
    said = said or _USUALLY.get(folded[place], "in")
    has_article = folded[place] in ("im", "beim", "au", "aux", "zum", "zur")
    return f"{said} the" if has_article else said


def _before_number(folded: Sequence[str], place: int) -> str:
    """Return the English of a preposition before a year or an hour: "en 2020", "à 8 h", "um 9 Uhr"."""
    return "in" if len(folded[place + 1]) == len("2020") else "at"


def _before_day(folded: Sequence[str], place: int) -> str | None:
    """Return the English of a word before or within a date: "le 3 mai", "du 3 au 17 août", "el 3 de abril"."""
    word = folded[place]
    follows = folded[place + 1][:1].isdigit() if place + 1 < len(folded) else False
    if word in ("de", "del") and place and folded[place - 1].isdigit():
        return ""
    if not follows or len(folded[place + 1].rstrip(".")) > 2:
        return None
    if word in ("du", "vom", "del"):
        return "from"
    if word in ("au", "al", "zum"):
        return "to" if {"du", "vom", "del"} & {*folded[:place]} else "on"
    return "on" if word in ("le", "el") else None
