"""Difference checks: aspects in which two sentences must agree to be one memory, whatever their cosine is."""

import re
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise

from apps.pipeline.deduplication.argument_order import change_places
from apps.pipeline.lexicon.antonyms import SCALES
from apps.pipeline.lexicon.contrast_words import (
    A_WISH,
    BE,
    BOUNDS,
    FLIPS,
    FOCUS,
    HAVE,
    KINSHIP,
    MODALITIES,
    NEGATIONS,
    OPENERS,
    PARTICLES,
    PAST,
    PRESENT,
    RELATIVE_TIMES,
    TIMES,
    UNITS,
    WITHOUT,
)
from apps.pipeline.lexicon.normalization import normalize
from apps.pipeline.lexicon.verbs import must_be_past, root


class Guard(StrEnum):
    """An aspect in which two similar sentences can differ in meaning."""

    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    NAME = "name"
    ORDER = "order"  # exchanged roles: "Tom owes Lena", "Lena owes Tom"
    UNIT = "unit"
    MODALITY = "modality"
    TENSE = "tense"  # present and past
    BEING = "being"  # is a doctor, has a doctor
    REVERSAL = "reversal"  # a word that reverses the statement: stopped, avoids, almost
    CONTRAST = "contrast"  # opposites and members of one scale: likes and dislikes, red and blue
    KINSHIP = "kinship"  # mother and mother-in-law, wife and ex-wife
    BOUND = "bound"  # at least two, at most two
    FOCUS = "focus"  # only on Mondays, on Mondays


_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*|[%€$£¥]|°[cfCF]")
_MAY = re.compile(
    r"\b(?:[Ii]n|[Ss]ince|until|by|last|next|this|of|early|mid|late)\s+May\b|\bMay\s+\d|\d(?:st|nd|rd|th)?\s+(?:of\s+)?May\b"
)
_JOINED = re.compile(
    r"\b(going to(?! (?:bed|work|school|sleep|the|a|an)\b)|used to|has to|have to|had to|needs to|need to|"
    r"thinking of)\b"
)
_STATES = frozenset("married engaged born divorced separated retired moved gone".split())  # never passive
_DETERMINERS = frozenset("a an the his her their my of in".split())  # "a shared flat" is not past
_PREFIX = re.compile(r"^(?:un|in|im|il|ir|dis|non|mis)(?=\w{4})")
_LONG_NAME = re.compile(r"\b[A-Z][\w-]+(?: [A-Z][\w-]+)+")
_OWNER = re.compile(r"['’]s\b|\b(?:of|de|di|von)\b")


@lru_cache(maxsize=4_096)
def differences(one: str, two: str) -> frozenset[Guard]:
    """Return every aspect in which two sentences differ; the order of the two does not matter.

    Each check reads a set of words from each sentence and requires equal sets: 3 and "three" are one number, "Tuesdays"
    and "Tuesday" one day, "doesn't" and "never" one negation.
    """
    found = {guard for guard, read in _READERS.items() if read(one) != read(two)}
    if _names(one, two) != _names(two, one):
        found.add(Guard.NAME)
    elif change_places(one, two) or _done_and_suffered(one, two):
        found.add(Guard.ORDER)
    if _tense_differs(one, two):
        found.add(Guard.TENSE)
    if _being_differs(one, two):
        found.add(Guard.BEING)
    if _stand_apart(one, two) or _particles_differ(one, two):
        found.add(Guard.CONTRAST)
    if _undone(one, two):
        found.add(Guard.NEGATION)
    return frozenset(found)


def contradictions(one: str, two: str) -> frozenset[Guard]:
    """Return the aspects in which two sentences with the same triple exclude each other.

    Less strict than `differences`: a sentence without number, date, unit or further name is only less precise.
    """
    found = differences(one, two)
    lax: set[Guard] = {guard for guard in (Guard.NUMBER, Guard.DATE, Guard.UNIT) if _is_part(guard, one, two)}
    if names_are_part(one, two):
        lax |= {Guard.NAME, Guard.ORDER}
    return found - lax


def names_are_part(one: str, two: str) -> bool:
    """Return True if the names of one sentence include those of the other one."""
    first, second = _names(one, two), _names(two, one)
    return first <= second or second <= first


def names_grow(one: str, two: str) -> bool:
    """Return True if a name in one sentence is longer in the other one: York, New York."""
    first, second = (set(_LONG_NAME.findall(normalize(text))) for text in (one, two))
    shared = _names(one, two) & _names(two, one)
    return any(shared & set(name.casefold().split()) for name in first ^ second)


def _is_part(guard: Guard, one: str, two: str) -> bool:
    first, second = _READERS[guard](one), _READERS[guard](two)
    return first <= second or second <= first


def tells_relative_time(text: str) -> bool:
    """Return True if a sentence has a time that is relative to the day on which it was said."""
    return bool(_dates(text) & RELATIVE_TIMES)


def precision_of(text: str) -> int:
    """Measure how precise a sentence is: the number of its content words, with numbers and times counted twice."""
    words = {token for token in _words(text) if len(token) > 3 and token not in OPENERS}
    return len(words) + 2 * len(numbers(text)) + 2 * len(_dates(text))


@lru_cache(maxsize=4_096)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(normalize(text)))


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    folded = _JOINED.sub(lambda found: found.group().replace(" ", "_"), normalize(text).casefold())
    joined = frozenset(re.findall(r"\w+_\w+", folded))
    return joined | frozenset(token.casefold().replace("’", "'") for token in _tokens(folded))


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a sentence, written out or in digits, without thousands separators."""
    return frozenset(_plain_number(token) for token in _tokens(text) if token[0].isdigit())


@lru_cache(maxsize=4_096)
def _parts(text: str) -> frozenset[str]:
    return _words(text) | {part for word in _words(text) for part in word.split("-")}


def _plain_number(token: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", token):
        return re.sub(r"[.,]", "", token)
    number = token.replace(",", ".")
    return number.removesuffix(".00").lstrip("0") or "0"


def _dates(text: str) -> frozenset[str]:
    may = {"may"} if _MAY.search(normalize(text)) else set()
    return frozenset(may | {TIMES[word] for word in _parts(text) if word in TIMES})


def _negations(text: str) -> frozenset[str]:
    words = _words(text)
    negated = {"not"} if (words & NEGATIONS and "anymore" not in words) or "non" in _parts(text) else set()
    return frozenset(negated | ({"without"} if words & WITHOUT else set()))


def _reversals(text: str) -> frozenset[str]:
    return frozenset(FLIPS[word] for word in _words(text) if word in FLIPS)


def _tense_differs(one: str, two: str) -> bool:
    """Return True if at least one verb is only in the present in one sentence and only in the past in the other."""
    first, second = _words(one), _words(two)
    if any(
        a & PRESENT and not a & PAST and b & PAST and not b & PRESENT for a, b in ((first, second), (second, first))
    ):
        return True
    here, there = _verbs(one), _verbs(two)
    return any(here[verb] != there[verb] for verb in here.keys() & there.keys())


def _done_and_suffered(one: str, two: str) -> bool:
    """Return True if one sentence has a verb in the active and the other one in the passive: invited, was invited."""
    first, second = _suffered(one), _suffered(two)
    done, told = (_verbs(text, finite=False) for text in (one, two))
    return any(told.get(verb) for verb in first - second) or any(done.get(verb) for verb in second - first)


@lru_cache(maxsize=4_096)
def _suffered(text: str) -> frozenset[str]:
    tokens = [token.casefold() for token in _tokens(text)]
    return frozenset(
        root(verb)
        for be, verb in pairwise(tokens)
        if be in {"was", "were", "been"} and must_be_past(verb) and verb not in _STATES
    )


@lru_cache(maxsize=4_096)
def _verbs(text: str, *, finite: bool = True) -> dict[str, bool]:
    """Map the stem of each word to whether it is in the past tense; after "has" and "is" it may be a participle."""
    tokens = [token.casefold() for token in _tokens(text)]
    finite = not (finite and {"has", "have", "is", "are", "had", "was", "were"} & set(tokens))
    told = (token for before, token in pairwise(["", *tokens]) if before not in _DETERMINERS)
    return {root(token): must_be_past(token) for token in told} if finite else {}


def _units(text: str) -> frozenset[str]:
    return frozenset(UNITS[word] for word in _parts(text) if word in UNITS) if numbers(text) else frozenset()


def _kinship(text: str) -> frozenset[str]:
    return frozenset(found.rstrip(" -s") for found in KINSHIP.findall(normalize(text).casefold()))


def _bounds(text: str) -> frozenset[str]:
    plain = normalize(text).casefold()
    return frozenset(name for pattern, name in BOUNDS if pattern.search(plain)) if numbers(text) else frozenset()


def _focus(text: str) -> frozenset[str]:
    return frozenset({"only"}) if _words(text) & FOCUS else frozenset()


def _modalities(text: str) -> frozenset[str]:
    words = _words(_MAY.sub("", A_WISH.sub("wants", text)))
    return frozenset(MODALITIES[word] for word in words if word in MODALITIES)


_READERS: dict[Guard, Callable[[str], frozenset[str]]] = {
    Guard.NUMBER: numbers,
    Guard.DATE: _dates,
    Guard.NEGATION: _negations,
    Guard.UNIT: _units,
    Guard.MODALITY: _modalities,
    Guard.REVERSAL: _reversals,
    Guard.KINSHIP: _kinship,
    Guard.BOUND: _bounds,
    Guard.FOCUS: _focus,
}


def _names(text: str, other: str) -> frozenset[str]:
    """Return capitalised words, except those that the other sentence has in lower case or that only open this one."""
    lower = _tokens(other)
    tokens = [re.sub(r"['’]s?$", "", token) for token in _tokens(text)]
    return frozenset(
        token.casefold()
        for place, token in enumerate(tokens)
        if token[:1].isupper() and token.casefold() not in TIMES and token.casefold() not in lower
        if place > 0 or token.casefold() not in OPENERS
    )


def _being_differs(one: str, two: str) -> bool:
    """Return True if one sentence says what someone is and the other what they have; "Ana's car is red" says both."""
    if bool(_OWNER.search(one)) != bool(_OWNER.search(two)):
        return False
    first, second = (_words(text) & (BE | HAVE) for text in (one, two))
    return any(a and a <= BE and b and b <= HAVE for a, b in ((first, second), (second, first)))


def _stand_apart(one: str, two: str) -> bool:
    """Return True if two sentences have words from different points of one scale."""
    first, second = _scale_points(one), _scale_points(two)
    return any(first[scale] != second[scale] for scale in first.keys() & second.keys())


def _particles_differ(one: str, two: str) -> bool:
    """Return True if the same verb has opposed particles: checked in, checked out."""
    first, second = _particles(one), _particles(two)
    return any(
        first[verb] in PARTICLES.get(second[verb], ()) and first[verb] != second[verb]
        for verb in first.keys() & second.keys()
    )


def _particles(text: str) -> dict[str, str]:
    tokens = [token.casefold() for token in _tokens(text)]
    return {root(verb): word for verb, word in pairwise(tokens) if word in PARTICLES}


def _undone(one: str, two: str) -> bool:
    """Return True if a word has a prefix in one sentence that makes its opposite: legal, illegal."""
    first, second = _parts(one), _parts(two)
    return any(
        _PREFIX.sub("", word) in there for here, there in ((first, second), (second, first)) for word in here - there
    )


@lru_cache(maxsize=4_096)
def _scale_points(text: str) -> dict[str, frozenset[int]]:
    points: dict[str, frozenset[int]] = {}
    for word in _parts(text):
        for scale, point in SCALES.get(word, ()):
            points[scale] = points.get(scale, frozenset()) | {point}
    return points
