"""The roles of names and words in a sentence (who does what to whom), whatever their order."""

import re
from functools import lru_cache

from apps.pipeline.lexicon.contrast_words import OPENERS, TIMES
from apps.pipeline.lexicon.normalization import normalize
from apps.pipeline.lexicon.synonyms import meaning_of

USER = "User"  # never a part of another name

# Words before the other side of a relation: "taller than Mark", "from Hamburg", "after lunch".
_OPPOSING = frozenset("than before after from without against above below behind beneath under over".split())
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
_COPULA = frozenset("is are was were".split())
_CLAUSE = re.compile(r"\b(after|before|because|until|while|unless|if)\b ([^,;]*)", re.IGNORECASE)
_SHORT = 2  # a phrase with at most so many words is no clause: "before the meeting"
_ALONE, _TOGETHER = "alone", "together"


def change_places(one: str, two: str) -> bool:
    """Return True if shared words have other roles in each sentence: "Tom owes Lena", "Lena owes Tom".

    The position of a phrase does not matter: "In May Tom moved to Rome" has the roles of "Tom moved to Rome in May". A
    name may have another form: "Ana's car is red", "Ana has a red car".
    """
    first, second = _parts(one), _parts(two)
    shared = first.keys() & second.keys()
    changed = [word for word in shared if first[word] != second[word]]
    if len(changed) > 1 or any(not _is_form(first[word], second[word], one, two) for word in changed):
        return True
    rest = shared - set(changed)
    return _order(first, rest) != _order(second, rest) or _turned(one, two) or _clauses_differ(one, two)


def _turned(one: str, two: str) -> bool:
    """Return True if two things have exchanged their roles."""
    first, second = _bare_words(one), _bare_words(two)
    if not (first and second):
        return False
    things = _things(one) | _things(two)
    shared = set(first) & set(second) & things
    return _in_order(first, shared) != _in_order(second, shared)


def _in_order(words: tuple[str, ...], shared: set[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word in shared]


@lru_cache(maxsize=4_096)
def _things(text: str) -> frozenset[str]:
    """Return the names of a sentence and its words after an article or owner."""
    words = _WORD.findall(normalize(text))
    owned = zip(["", *words], words, strict=False)
    return frozenset(
        _folded(word)
        for before, word in owned
        if word[0].isupper() or before.casefold() in _ARTICLES or _POSSESSIVE.search(before)
        if word.casefold() not in OPENERS | _PREPOSITIONS
    )


@lru_cache(maxsize=4_096)
def _bare_words(text: str) -> tuple[str, ...]:
    """Return the words that follow no preposition and are not joined by "and", in their order.

    Empty if the sentence equates them, with "is" or with an apposition between commas.
    """
    words = _WORD.findall(normalize(text))
    if _COPULA & set(words) or "," in words:
        return ()
    found = []
    for place, word in enumerate(words):
        phrase = place
        while phrase and (words[phrase - 1].casefold() in _ARTICLES or _POSSESSIVE.search(words[phrase - 1])):
            phrase -= 1
        before, after = (
            words[phrase - 1].casefold() if phrase else "",
            words[place + 1] if place + 1 < len(words) else "",
        )
        loose = before in _PREPOSITIONS | _AND or after in _AND or _POSSESSIVE.search(word)
        if not loose and word.casefold() not in TIMES:
            found.append(_folded(word))
    return tuple(found)


def _folded(word: str) -> str:
    return meaning_of(_bare(word))


def _clauses_differ(one: str, two: str) -> bool:
    """Return True if shared words are part of an "after", "before" or "because" clause in only one of the sentences."""
    first, second = _clauses(one), _clauses(two)
    said = _meanings(one) & _meanings(two)
    return any(first[word] & said != second[word] & said for word in first.keys() & second.keys())


@lru_cache(maxsize=4_096)
def _clauses(text: str) -> dict[str, frozenset[str]]:
    found = ((each[1].casefold(), _WORD.findall(each[2])) for each in _CLAUSE.finditer(normalize(text)))
    return {word: frozenset(map(_folded, words)) for word, words in found if len(words) > _SHORT}


def _is_form(one_part: str, two_part: str, one: str, two: str) -> bool:
    """Return True if two roles may be one: owner of a thing in both sentences, place with or without preposition."""
    if {one_part, two_part} & _SIDES:
        return False
    owned = {meaning_of(part.removeprefix("of ")) for part in (one_part, two_part) if part.startswith("of ")}
    return owned <= _meanings(one) & _meanings(two)


@lru_cache(maxsize=4_096)
def _meanings(text: str) -> frozenset[str]:
    return frozenset(meaning_of(word.casefold()) for word in _WORD.findall(normalize(text)))


def _order(parts: dict[str, str], shared: set[str]) -> list[str]:
    """Return the names that stand by themselves, in their order; names joined by "and" have no order."""
    return [word for word, part in parts.items() if word in shared and word[0] == "@" and part == _ALONE]


@lru_cache(maxsize=4_096)
def _parts(text: str) -> dict[str, str]:
    """Map each name, marked by @, and each other word to its role; words without a preposition or partner are ALONE."""
    plain = _RATHER.sub("than", normalize(text))
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
    """Return the preposition that governs a word, skipping articles between them."""
    place -= 1
    while place >= 0 and words[place].casefold() in _ARTICLES - _PREPOSITIONS:
        place -= 1
    found = words[place].casefold() if place >= 0 else ""
    return found if found in _PREPOSITIONS else ""


def _side(preposition: str, words: list[str]) -> str:
    return "than" if preposition == "to" and "prefers" in words else preposition


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).casefold()
