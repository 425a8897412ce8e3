"""Quotations: text in quotation marks, except titles and single words."""

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from apps.pipeline.provenance import marks
from apps.pipeline.provenance.spans import ForeignKind, ForeignSpan

LONGEST = 4_000  # maximal distance between two marks


def quotations(prose: str) -> Iterator[ForeignSpan]:
    """Yield quoted sentences, and any quoted text after a verb of speaking."""
    closings, place = closings_of(prose), 0
    for found in marks.MARK.finditer(prose):
        start = found.start()
        if start < place or not _opens(prose, start):
            continue
        end = end_of_quotation(prose, closings, start)
        if end > start and (_is_said(prose, start) or marks.IS_SPEECH.search(prose[start:end]) is not None):
            place = end
            yield ForeignSpan(start, end, ForeignKind.QUOTATION)


def _opens(prose: str, start: int) -> bool:
    """Return True for an opening mark; a single one opens before a capital, after , or : or a verb of speaking."""
    mark, before, after = prose[start], prose[max(0, start - 1) : start] or " ", prose[start + 1 : start + 2]
    if mark not in marks.PAIRS or before not in marks.BEFORE_OPENING or not (after.strip() or mark == "«"):
        return False
    is_after_pause = prose[max(0, start - 3) : start].rstrip()[-1:] in tuple(":,")
    return mark not in marks.SINGLE or after.isupper() or is_after_pause or _is_said(prose, start)


def _is_said(prose: str, start: int) -> bool:
    return marks.SAYS.search(prose[max(0, start - 30) : start]) is not None


@lru_cache(maxsize=8)
def closings_of(prose: str) -> dict[str, list[int]]:
    """Return the positions at which quotations may end, by mark."""
    closings: dict[str, list[int]] = {mark: [] for mark in marks.QUOTATION_MARKS}
    for found in marks.MARK.finditer(prose):
        place = found.start()
        follows_text = found.group() == "»" or prose[max(0, place - 1) : place].strip()
        if (prose[place + 1 : place + 2] or " ") in marks.AFTER_CLOSING and follows_text:
            closings[found.group()].append(place)
    return closings


def end_of_quotation(prose: str, closings: dict[str, list[int]], start: int) -> int:
    """Return the end of a quotation; without a closing mark, that of the paragraph after a colon, else its start."""
    places = [closings[mark] for mark in marks.PAIRS.get(prose[start], prose[start])]
    nearest = min((each[at] for each in places if (at := bisect_right(each, start + 1)) < len(each)), default=-1)
    if 0 <= nearest <= start + LONGEST:
        return nearest + 1
    if not prose[max(0, start - 3) : start].rstrip().endswith(":"):
        return start
    end = prose.find("\n\n", start)
    return end if end >= 0 else len(prose)
