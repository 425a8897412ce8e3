"""Text without accents and capitals, in which every character keeps its place."""

import unicodedata

_WITH_ACCENTS = [chr(each) for each in range(0xC0, 0x250)]
_PLAIN = {ord(each): unicodedata.normalize("NFD", each)[0].lower() for each in _WITH_ACCENTS} | {
    ord("ß"): "s",
    ord("’"): "'",
    ord("‘"): "'",
}


def plain_letters(text: str) -> str:
    """Return a text of the same length for rules that ignore accents, capitals and the form of apostrophes."""
    return text.translate(_PLAIN).lower()
