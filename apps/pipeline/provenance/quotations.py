"""Quotations: text in quotation marks, except titles and single words."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache

import re2

from apps.pipeline.provenance.spans import QUOTATION_MARKS, ForeignKind, ForeignSpan

MOST_CHARACTERS = 4_000  # maximal distance between two marks
# Each mark that can open before a word, with those that close it.
_PAIRS = {"“": '”“"', "„": '“”"', "«": "»", "»": "«", "”": "”", "‘": "’'", "‚": "‘’'", '"': '"”', "'": "'’"}
_MARK = re.compile(f"[{QUOTATION_MARKS}]")  # one character: linear, and faster than RE2 for each of many matches
_BEFORE_OPENING = " \t\n(:,;[—–-*"
_AFTER_CLOSING = " \t\n.,;:!?)…]—–-*"
_SPEECH = re2.compile(
    r"(?i)\b(?:i|i['’]m|i['’]ve|my|me|we|our|ich|mein\w*|wir|je|j['’]\w+|mon|ma|mes|nous)\b|(?:\w+\W+){6}"
)
# Words before a mark that make even a single word a quotation; "called" and "titled" announce a name.
_ANNOUNCES = re2.compile(
    r"(?i)(?:\b(?:said|says|wrote|writes|replied|answered|texted|reads|goes|told \w+|sagte?|schrieb|dit)|écrit)[ \t]*$"
)
_SINGLE = "'‘‚"
_ADDRESS = re2.compile(r"https?://\S+")


def quotations(prose: str) -> Iterator[ForeignSpan]:
    """Yield quoted sentences, and any quoted text after a colon or a verb of speaking."""
    closings = _closings(prose)
    place = 0
    for found in _MARK.finditer(prose):
        start, mark = found.start(), found.group()
        if start < place or not _opens(prose, start, mark):
            continue
        end = _end(prose, closings, start, mark)
        if end > start and (_is_announced(prose, start) or _SPEECH.search(prose[start:end]) is not None):
            place = end
            yield ForeignSpan(start, end, ForeignKind.QUOTATION)


def _opens(prose: str, start: int, mark: str) -> bool:
    before, after = prose[max(0, start - 1) : start] or " ", prose[start + 1 : start + 2]
    is_spaced = mark == "«"  # French sets a space on the inner side of its marks
    if mark not in _PAIRS or before not in _BEFORE_OPENING or not (after.strip() or is_spaced):
        return False
    # A single mark opens before a capital, after a colon, a comma or a verb of speaking; elsewhere it is an apostrophe.
    return (
        mark not in _SINGLE
        or after.isupper()
        or prose[max(0, start - 3) : start].rstrip()[-1:] in tuple(":,")
        or _is_announced(prose, start)
    )


def end_of_quotation(prose: str, start: int) -> int:
    """Return the end of a quotation whose opening mark is at `start`, with or without a closing mark."""
    end = _end(prose, _closings(prose), start, prose[start])
    return end if end > start else len(prose)


def _is_announced(prose: str, start: int) -> bool:
    return _ANNOUNCES.search(prose[max(0, start - 30) : start]) is not None


@lru_cache(maxsize=8)
def _closings(prose: str) -> Mapping[str, list[int]]:
    """Return the positions at which quotations may end, by mark."""
    closings: dict[str, list[int]] = {mark: [] for mark in QUOTATION_MARKS}
    for found in _MARK.finditer(prose):
        place = found.start()
        is_spaced = found.group() == "»"
        follows_text = is_spaced or prose[max(0, place - 1) : place].strip()
        if (prose[place + 1 : place + 2] or " ") in _AFTER_CLOSING and follows_text:
            closings[found.group()].append(place)
    return closings


def _end(prose: str, closings: Mapping[str, list[int]], start: int, mark: str) -> int:
    """Return the end of a quotation; without a closing mark, the end of the paragraph if a colon comes before it."""
    places = [_first_after(closings[each], start + 1) for each in _PAIRS.get(mark, mark)]
    nearest = min((place for place in places if place is not None), default=None)
    if nearest is not None and nearest - start <= MOST_CHARACTERS:
        return nearest + 1
    if not prose[max(0, start - 3) : start].rstrip().endswith(":"):
        return start
    end = prose.find("\n\n", start)
    return end if end >= 0 else len(prose)


def _first_after(places: list[int], start: int) -> int | None:
    number = bisect_right(places, start)
    return places[number] if number < len(places) else None


def addresses(prose: str) -> Iterator[ForeignSpan]:
    """Yield web addresses."""
    for found in _ADDRESS.finditer(prose):
        yield ForeignSpan(found.start(), found.end(), ForeignKind.ADDRESS)
