"""Folding: the normal form in which texts and patterns are compared."""

import unicodedata

# Marks where a text was truncated; a private-use character, so that no phrase and no `$` matches across it.
CUT = "\ue000"

_QUOTES = dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc\u00b4`"), "'")
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFE0E, 0xFE0F, 0x20E3, 0xFEFF))
_PLAIN = _QUOTES | _INVISIBLE


def fold(text: str, *, limit: int) -> str:
    """Return the folded text for rules: NFKC, caseless, straight quotes, single spaces, at most `limit` characters.

    A truncated text ends in CUT; lone surrogates become question marks.
    """
    shown = text[:limit].replace("`", "'")
    if not shown.isascii():
        shown = shown.encode("utf-8", "replace").decode("utf-8")
        shown = unicodedata.normalize("NFKC", shown.translate(_PLAIN))
    folded = " ".join(shown.casefold().split())
    return folded if len(text) <= limit else f"{folded} {CUT}"


def fold_pattern(pattern: str) -> str:
    """Return a pattern that matches folded text; RE2's caseless option handles ASCII letters."""
    return "".join(letter if letter.isascii() else letter.casefold() for letter in pattern)
