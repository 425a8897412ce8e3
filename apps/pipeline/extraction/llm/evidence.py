"""Evidence: whether the words that a model quotes were said, and by whom."""

import re
import unicodedata
from collections.abc import Iterable
from html import unescape

from apps.pipeline.core.turn import SourceTurn

LEAST_LETTERS = 2  # a quote of fewer proves nothing: "a" stands in every turn
_SPACE = re.compile(r"\s+")
_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


def fold(text: str) -> str:
    """Fold width, case, white space and typography, so that a quote is found however a model sets it."""
    folded = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY).casefold()
    return _SPACE.sub(" ", folded).strip()


def said_in(quote: str, *, turns: Iterable[SourceTurn]) -> SourceTurn | None:
    """Return the first of the turns that holds the quote, or None.

    A prompt shows "<" as "&lt;"; a quote may come back either way.
    """
    wanted = {fold(quote), fold(unescape(quote))}
    telling = [each for each in wanted if sum(map(str.isalnum, each)) >= LEAST_LETTERS]
    if not telling:
        return None
    return next((turn for turn in turns if any(each in fold(turn.content) for each in telling)), None)
