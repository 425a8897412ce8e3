"""Guards: what two sentences must not differ in to be one memory, whatever their cosine says."""

import re
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from apps.pipeline.contrasts import (
    A_WISH,
    BE,
    FLIPS,
    HAVE,
    MODALITIES,
    MONTHS,
    NEGATIONS,
    NUMBER_WORDS,
    OPENERS,
    PAST,
    PRESENT,
    RELATIVE_TIMES,
    SCALES,
    TIMES,
    UNITS,
    WITHOUT,
)
from apps.pipeline.roles import change_places
from apps.pipeline.synonyms import in_plain_words


class Guard(StrEnum):
    """One way in which two alike sentences tell different things."""

    NUMBER = "number"
    DATE = "date"
    NEGATION = "negation"
    NAME = "name"
    ORDER = "order"  # the same words the other way round: "Tom owes Lena", "cats rather than dogs"
    UNIT = "unit"
    MODALITY = "modality"
    TENSE = "tense"  # what is, and what was
    BEING = "being"  # is a doctor, has a doctor
    REVERSAL = "reversal"  # a word that turns the statement round: stopped, avoids, almost
    CONTRAST = "contrast"  # opposites and members of one scale: likes and dislikes, red and blue


_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*|[%€$£¥]|°[cfCF]")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_MAY = re.compile(
    r"\b(?:in|since|until|by|last|next|this|of|early|mid|late)\s+May\b|\bMay\s+\d|\d(?:st|nd|rd|th)?\s+(?:of\s+)?May\b"
)
_JOINED = re.compile(
    r"\b(going to(?! (?:bed|work|school|sleep|the|a|an)\b)|used to|has to|have to|had to|needs to|need to|"
    r"thinking of)\b"
)
_LONG_NAME = re.compile(r"\b[A-Z][\w-]+(?: [A-Z][\w-]+)+")
_OWNER = re.compile(r"['’]s\b|\b(?:of|de|di|von)\b")
_CONTRACTED_NOT = re.compile(r"n['’]t$|^n['’]")


@lru_cache(maxsize=4_096)
def differences(one: str, two: str) -> frozenset[Guard]:
    """Return every guard in which two sentences differ; the order of the two does not matter.

    Each guard reads its own set of words from each sentence and wants the two sets equal: 3 and "three" are one number,
    "Tuesdays" and "Tuesday" one day, "doesn't" and "never" one negation.
    """
    found = {guard for guard, read in _READERS.items() if read(one) != read(two)}
    if _names(one, two) != _names(two, one):
        found.add(Guard.NAME)
    elif change_places(one, two):
        found.add(Guard.ORDER)
    if _tense_differs(one, two):
        found.add(Guard.TENSE)
    if _being_differs(one, two):
        found.add(Guard.BEING)
    if _stand_apart(one, two):
        found.add(Guard.CONTRAST)
    return frozenset(found)


def contradictions(one: str, two: str) -> frozenset[Guard]:
    """Return the guards in which two sentences of the same triple exclude each other.

    Laxer than `differences`: where one of them tells no number, date, unit or further name, it is only less precise.
    """
    found = differences(one, two)
    lax: set[Guard] = {guard for guard in (Guard.NUMBER, Guard.DATE, Guard.UNIT) if _is_part(guard, one, two)}
    if names_are_part(one, two):
        lax |= {Guard.NAME, Guard.ORDER}
    return found - lax


def names_are_part(one: str, two: str) -> bool:
    """Tell whether one sentence names everything that the other one names."""
    first, second = _names(one, two), _names(two, one)
    return first <= second or second <= first


def names_grow(one: str, two: str) -> bool:
    """Tell whether a name of one sentence is longer in the other: York, New York."""
    first, second = (set(_LONG_NAME.findall(text)) for text in (one, two))
    shared = _names(one, two) & _names(two, one)
    return any(shared & set(name.casefold().split()) for name in first ^ second)


def _is_part(guard: Guard, one: str, two: str) -> bool:
    first, second = _READERS[guard](one), _READERS[guard](two)
    return first <= second or second <= first


def tells_relative_time(text: str) -> bool:
    """Tell whether a sentence counts from the day on which it was said."""
    return bool(_dates(text) & RELATIVE_TIMES)


def precision_of(text: str) -> int:
    """Measure how much a sentence tells: its words of content, numbers and times counted twice."""
    words = {token for token in _words(text) if len(token) > 3 and token not in OPENERS}
    return len(words) + 2 * len(numbers(text)) + 2 * len(_dates(text))


@lru_cache(maxsize=4_096)
def _tokens(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(in_plain_words(text)))


@lru_cache(maxsize=4_096)
def _words(text: str) -> frozenset[str]:
    folded = _JOINED.sub(lambda found: found.group().replace(" ", "_"), in_plain_words(text).casefold())
    joined = frozenset(re.findall(r"\w+_\w+", folded))
    return joined | frozenset(token.casefold().replace("’", "'") for token in _tokens(folded))


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a sentence, written out or in digits, without thousands separators."""
    plain = _ISO_DATE.sub(lambda found: f"{found[1]} {int(found[3])}", text)
    digits = {_plain_number(token) for token in _tokens(plain) if token[0].isdigit()}
    return frozenset(digits | {NUMBER_WORDS[word] for word in _parts(plain) if word in NUMBER_WORDS})


def _parts(text: str) -> frozenset[str]:
    return _words(text) | {part for word in _words(text) for part in word.split("-")}


def _plain_number(token: str) -> str:
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", token):
        return re.sub(r"[.,]", "", token)
    number = token.replace(",", ".")
    return number.removesuffix(".00").lstrip("0") or "0"


def _dates(text: str) -> frozenset[str]:
    months = {MONTHS[int(month) - 1] for _, month, _ in _ISO_DATE.findall(text) if 1 <= int(month) <= 12}
    may = {"may"} if _MAY.search(text) else set()
    return frozenset(months | may | {TIMES[word] for word in _parts(text) if word in TIMES})


def _negations(text: str) -> frozenset[str]:
    negated = any(word in NEGATIONS or _CONTRACTED_NOT.search(word) for word in _words(text))
    without = _words(text) & WITHOUT
    return frozenset((["not"] if negated else []) + (["without"] if without else []))


def _reversals(text: str) -> frozenset[str]:
    return frozenset(FLIPS[word] for word in _words(text) if word in FLIPS)


def _tense_differs(one: str, two: str) -> bool:
    """Tell whether one sentence says only what is and the other only what was."""
    first, second = _words(one), _words(two)
    return any(
        a & PRESENT and not a & PAST and b & PAST and not b & PRESENT for a, b in ((first, second), (second, first))
    )


def _units(text: str) -> frozenset[str]:
    return frozenset(UNITS[word] for word in _parts(text) if word in UNITS) if numbers(text) else frozenset()


def _modalities(text: str) -> frozenset[str]:
    words = _words(A_WISH.sub("wants", _MAY.sub("", text)))
    return frozenset(MODALITIES[word] for word in words if word in MODALITIES)


_READERS: dict[Guard, Callable[[str], frozenset[str]]] = {
    Guard.NUMBER: numbers,
    Guard.DATE: _dates,
    Guard.NEGATION: _negations,
    Guard.UNIT: _units,
    Guard.MODALITY: _modalities,
    Guard.REVERSAL: _reversals,
}


def _names(text: str, other: str) -> frozenset[str]:
    """Return capitalised words; the first of a sentence counts unless the other has it in lower case."""
    tokens = [re.sub(r"['’]s?$", "", token) for token in _tokens(text)]
    return frozenset(
        token.casefold()
        for place, token in enumerate(tokens)
        if token[:1].isupper() and (place > 0 or _opens_with_name(token, other)) and token.casefold() not in TIMES
    )


def _opens_with_name(token: str, other: str) -> bool:
    return token.casefold() not in OPENERS and token.casefold() not in _tokens(other)


def _being_differs(one: str, two: str) -> bool:
    """Tell whether one sentence says what someone is, the other what they have; "Ana's car is red" says both."""
    if bool(_OWNER.search(one)) != bool(_OWNER.search(two)):
        return False
    first, second = (_words(text) & (BE | HAVE) for text in (one, two))
    return any(a and a <= BE and b and b <= HAVE for a, b in ((first, second), (second, first)))


def _stand_apart(one: str, two: str) -> bool:
    """Tell whether two sentences stand at different points of a scale."""
    first, second = _scale_points(one), _scale_points(two)
    return any(first[scale] != second[scale] for scale in first.keys() & second.keys())


def _scale_points(text: str) -> dict[str, frozenset[int]]:
    points: dict[str, frozenset[int]] = {}
    for word in _parts(text):
        if word in SCALES:
            scale, point = SCALES[word]
            points[scale] = points.get(scale, frozenset()) | {point}
    return points
