"""The folded form of a name: two spellings with the same folded form are one name."""

import re
import unicodedata

_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|el|la|le|les|il)\s+")
_LEGAL_FORM = re.compile(r"[\s,]+(?:inc|ltd|llc|plc|corp|co|gmbh|ag|kg|s\.?a|b\.?v|oy|ab)\.?$")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "'"})


def fold_name(name: str) -> str:
    """Fold case, accents, width, white space, a leading article and a legal form: "The Café GmbH" becomes "cafe"."""
    plain = unicodedata.normalize("NFKD", name.translate(_APOSTROPHES)).casefold()
    unaccented = "".join(each for each in plain if not unicodedata.combining(each))
    spaced = " ".join(unaccented.split()).strip(" .,;:!?\"'")
    return _LEGAL_FORM.sub("", _ARTICLE.sub("", spaced)) or spaced


def is_proper_name(text: str) -> bool:
    """Return True if a text is written like a name: one word starts with a capital, or its script has no case."""
    words = text.split()
    return any(word[0].isupper() or _is_caseless(word) for word in words)


def _is_caseless(word: str) -> bool:
    return word[0].isalpha() and word.lower() == word.upper()
