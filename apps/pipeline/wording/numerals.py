"""Numbers in digits: "thirty-four", "zweiundzwanzig" and "treinta y cinco" are 34, 22 and 35."""

import re

_UNITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split()
_NUMBERS = {
    **{word: number for number, word in enumerate(_UNITS, start=1)},
    **{word: number for number, word in enumerate(_TEENS, start=10)},
    **dict(zip(_TENS, range(20, 100, 10), strict=True)),
    "zero": 0,
}
_RANKS = {word: number for number, word in enumerate(_ORDINALS, start=2)} | {"twentieth": 20}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WRITTEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
# "zwei-und-zwanzig", "een-en-twintig", "venti-due", written in one.
_GERMAN_UNITS = "ein zwei drei vier fünf sechs sieben acht neun".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_DUTCH_UNITS = "een twee drie vier vijf zes zeven acht negen".split()
_DUTCH_TENS = "twintig dertig veertig vijftig zestig zeventig tachtig negentig".split()
_ITALIAN_UNITS = "uno due tre quattro cinque sei sette otto nove".split()
_ITALIAN_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split()
_IN_ONE = {
    **{f"{u}und{t}": (i + 1) + (j + 2) * 10 for i, u in enumerate(_GERMAN_UNITS) for j, t in enumerate(_GERMAN_TENS)},
    **{
        f"{u}{'ën' if u.endswith('e') else 'en'}{t}": (i + 1) + (j + 2) * 10
        for i, u in enumerate(_DUTCH_UNITS)
        for j, t in enumerate(_DUTCH_TENS)
    },
    **{
        f"{t[:-1] if u[0] in 'uo' else t}{'tré' if u == 'tre' else u}": (i + 1) + (j + 2) * 10
        for i, u in enumerate(_ITALIAN_UNITS)
        for j, t in enumerate(_ITALIAN_TENS)
    },
}
_TENS_AND_UNITS = re.compile(r"\b([2-9]0)(?: |-| and |-and-)([1-9]|1[0-9])\b(?![.:,]?\d)")
_SECOND = re.compile(r"(?<!\ba )(?<!per )(?<!each )(?<!every )(?<!\d )\bsecond\b")
_HUNDREDS = re.compile(r"\b(\d{1,3}) (hundred|thousand|million)\b")


def in_digits(text: str) -> str:
    """Return a sentence with its numbers in digits; "one" stays, for it may be nobody in particular."""
    text = _WRITTEN.sub(_number, _SECOND.sub("2", text))
    text = _TENS_AND_UNITS.sub(lambda both: str(int(both[1]) + int(both[2])), text)
    return _HUNDREDS.sub(lambda found: str(int(found[1]) * _SCALES[found[2]]), text)


def _number(found: re.Match[str]) -> str:
    word = found[0].lower()
    if word in _IN_ONE:
        return str(_IN_ONE[word])
    parts = word.split("-")
    if len(parts) == 2 and parts[0] in _TENS and parts[1] in _NUMBERS | _RANKS:
        return str(_NUMBERS[parts[0]] + (_NUMBERS | _RANKS)[parts[1]])
    if word != "one" and word in _NUMBERS:
        return str(_NUMBERS[word])
    return str(_RANKS[word]) if word in _RANKS and word != "second" else found[0]
