"""Roles: what the names and words of a sentence are to each other, wherever in it they stand."""

import re
from functools import lru_cache

from apps.pipeline.contrasts import TIMES
from apps.pipeline.synonyms import in_plain_words

USER = "User"  # never a part of another name

# After these, what follows is the other side: "taller than Mark", "from Hamburg", "after lunch".
_OPPOSING = frozenset("than before after from without against".split())
_SIDES = _OPPOSING | {"to", "by"}
_OF = frozenset("of de di da von".split())
_PREPOSITIONS = _SIDES | frozenset(
    """
    in on at with for of near into about between under over since until during through as via
    im am an auf aus bei beim mit nach seit von vom zu zum zur für gegen über ohne vor
    à a en de du au aux chez avec pour par sans depuis dans sur al del con por para sin desde hasta
    di da della per su em no na do com há op te met van voor naar w we z ze od u
    """.split()
)
_ARTICLES = frozenset(
    "the a an my your his her their our der die das den dem le la les el los las il lo o os as".split()
)
_AND = frozenset("and or und oder et ou y e en i".split())
_BREAK = re.compile(r"\d[\d.:,]*|[,;:]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.:,]*|[,;:]")
_POSSESSIVE = re.compile(r"['’]s?$")
_PREFERS = re.compile(r"\bprefer\w*", re.IGNORECASE)
_RATHER = re.compile(r"\b(?:rather than|instead of|better than|more than|over)\b", re.IGNORECASE)
_ALONE, _TOGETHER = "alone", "together"


def change_places(one: str, two: str) -> bool:
    """Tell whether words that both sentences have play another part in each: "Tom owes Lena", "Lena owes Tom".

    Where a part of the sentence stands does not matter: "In May Tom moved to Rome" has the parts of "Tom moved to Rome
    in May". One name may be told in another form: "Ana's car is red", "Ana has a red car".
    """
    first, second = _parts(one), _parts(two)
    shared = first.keys() & second.keys()
    changed = [word for word in shared if first[word] != second[word]]
    if len(changed) > 1 or any(not _is_form(first[word], second[word], one, two) for word in changed):
        return True
    rest = shared - set(changed)
    return _order(first, rest) != _order(second, rest)


def _is_form(one_part: str, two_part: str, one: str, two: str) -> bool:
    """Tell whether two parts may be one: owner of what both speak of, place with and without its preposition."""
    if {one_part, two_part} & _SIDES:
        return False
    owned = {part.removeprefix("of ") for part in (one_part, two_part) if part.startswith("of ")}
    return all(word in one.casefold() and word in two.casefold() for word in owned)


def _order(parts: dict[str, str], shared: set[str]) -> list[str]:
    """Return the names that stand by themselves, in their order; those that "and" joins have none."""
    return [word for word, part in parts.items() if word in shared and word[0] == "@" and part == _ALONE]


@lru_cache(maxsize=4_096)
def _parts(text: str) -> dict[str, str]:
    """Map each name, marked by @, and each other word to its part; words that take no side stand alone."""
    plain = _RATHER.sub("than", in_plain_words(text))
    words = _WORD.findall(_PREFERS.sub("prefers", plain))
    parts: dict[str, str] = {}
    for place, word in enumerate(words):
        folded = word.casefold()
        if folded in TIMES or folded in _PREPOSITIONS | _ARTICLES | _AND or _BREAK.match(word):
            continue
        if word[0].isupper():
            parts.setdefault(f"@{_bare(word)}", _part_of_name(words, place, parts))
        else:
            before = _before(words, place)
            parts.setdefault(folded, _side(before, words) if before in _OPPOSING or before == "to" else _ALONE)
    return {word: _ALONE if word[0] != "@" and part == "to" else part for word, part in parts.items()}


def _part_of_name(words: list[str], place: int, parts: dict[str, str]) -> str:
    word, before = words[place], words[place - 1] if place else ""
    if _POSSESSIVE.search(word) and place + 1 < len(words):
        return f"of {words[place + 1].casefold()}"
    if before.casefold() in _AND and place > 1 and words[place - 2][0].isupper():
        other = f"@{_bare(words[place - 2])}"
        parts[other] = _TOGETHER if parts.get(other) == _ALONE else parts.get(other, _TOGETHER)
        return parts[other]
    if before[:1].isupper() and not _POSSESSIVE.search(before) and word != USER and f"@{_bare(before)}" in parts:
        return parts[f"@{_bare(before)}"]
    preposition = _before(words, place)
    if preposition in _OF and place > 1:
        return f"of {words[place - 2].casefold()}"
    return _side(preposition, words) if preposition else _ALONE


def _before(words: list[str], place: int) -> str:
    """Return the preposition that governs a word, articles between them passed over."""
    place -= 1
    while place >= 0 and words[place].casefold() in _ARTICLES - _PREPOSITIONS:
        place -= 1
    found = words[place].casefold() if place >= 0 else ""
    return found if found in _PREPOSITIONS else ""


def _side(preposition: str, words: list[str]) -> str:
    return "than" if preposition == "to" and "prefers" in words else preposition


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()
