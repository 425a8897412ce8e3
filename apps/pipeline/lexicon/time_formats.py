"""One format for dates and hours: "2023-09-24" is "24 September 2023", "7:30 pm" is "19:30"."""

import re

from apps.pipeline.lexicon.calendar import MONTHS

_ISO_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_DOTTED_DAY = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
_ORDINAL = re.compile(r"\b([1-9]\d*)(?:st|nd|rd|th)\b")
_HALF = re.compile(r"\b[ap]\.m\.?", re.IGNORECASE)
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d{2}))? ?([ap]m)\b", re.IGNORECASE)
_PAST = re.compile(r"\b(half|quarter|\d+) (past|to) (\d{1,2})\b", re.IGNORECASE)
_O_CLOCK = re.compile(r" o['’]clock\b")
_PARTS = {"half": 30, "quarter": 15}


def normalize_times(text: str) -> str:
    """Return a sentence with its dates and hours in one format."""
    if not any(letter.isdigit() for letter in text):
        return text
    text = _ISO_DAY.sub(lambda day: _day(int(day[3]), int(day[2]), day[1]), text)
    text = _DOTTED_DAY.sub(lambda day: _day(int(day[1]), int(day[2]), day[3]), text)
    text = _ORDINAL.sub(lambda found: found[1] if int(found[1]) > 1 else found[0], text)
    text = _PAST.sub(_spoken, _O_CLOCK.sub("", text))
    return _CLOCK.sub(_in_24_hours, _HALF.sub(lambda half: half[0].replace(".", ""), text))


def _day(day: int, month: int, year: str) -> str:
    return f"{day} {MONTHS[month - 1].capitalize()} {year}" if 1 <= month <= 12 else f"{day} {month} {year}"


def _in_24_hours(found: re.Match[str]) -> str:
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "pm" else 0)
    return f"{hour}:{found[2] or '00'}"


def _spoken(found: re.Match[str]) -> str:
    minutes = _PARTS.get(found[1].lower()) or int(found[1] if found[1].isdigit() else 0)
    hour = int(found[3])
    return f"{hour}:{minutes:02}" if found[2].lower() == "past" else f"{(hour - 2) % 12 + 1}:{60 - minutes:02}"
