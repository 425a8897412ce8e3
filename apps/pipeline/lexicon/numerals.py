"""English numerals: "thirty-four" is 34, "two hundred" is 200."""

import re

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split()
NUMBERS: dict[str, int] = {
    **{word: number for number, word in enumerate(_UNITS, start=1)},
    **{word: number for number, word in enumerate(_TEENS, start=10)},
    **dict(zip(_TENS, range(20, 100, 10), strict=True)),
    "zero": 0,
}
ORDINALS: dict[str, int] = {word: number for number, word in enumerate(_ORDINALS, start=2)} | {"twentieth": 20}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WRITTEN = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*")
_TENS_AND_UNITS = re.compile(r"\b([2-9]0)(?: |-| and |-and-)([1-9]|1[0-9])\b(?![.:,]?\d)")
_SECOND = re.compile(r"(?<!\ba )(?<!per )(?<!each )(?<!every )(?<!\d )\bsecond\b")
_HUNDREDS = re.compile(r"\b(\d{1,3}) (hundred|thousand|million)\b")


def in_digits(text: str) -> str:
    """Return a sentence with its numbers in digits; "one" stays because it may be a pronoun."""
    text = _WRITTEN.sub(_number, _SECOND.sub("2", text))
    text = _TENS_AND_UNITS.sub(lambda both: str(int(both[1]) + int(both[2])), text)
    return _HUNDREDS.sub(lambda found: str(int(found[1]) * _SCALES[found[2]]), text)


def _number(found: re.Match[str]) -> str:
    word = found[0].lower()
    if word in ("one", "second"):
        return found[0]
    first, _, second = word.partition("-")
    if first in _TENS and second in NUMBERS | ORDINALS:
        return str(NUMBERS[first] + (NUMBERS | ORDINALS)[second])
    number = NUMBERS.get(word, ORDINALS.get(word))
    return found[0] if number is None else str(number)
