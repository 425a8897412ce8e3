"""Text without accents and capitals, in which every character keeps its place."""

import unicodedata

_PLAIN = {each: unicodedata.normalize("NFD", chr(each))[0] for each in range(0xC0, 0x250)} | {
    ord("ß"): "s",
    ord("’"): "'",
    ord("‘"): "'",
}


def without_accents(text: str) -> str:
    """Return a text of the same length without accents and with straight apostrophes."""
    return text.translate(_PLAIN)


def plain_letters(text: str) -> str:
    """Return a text of the same length for rules that ignore accents, capitals and the form of apostrophes."""
    return without_accents(text).lower()
